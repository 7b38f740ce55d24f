// C code of pinocchio's forward dynamics of a robot's file, by CasADi's symbols, for trees.py.
//
//     tree_code model.txt code.c    function `aba` of q, v and efforts

#include <pinocchio/autodiff/casadi.hpp>  // first: it defines the scalar

#include <pinocchio/algorithm/aba.hpp>

#include <string>

#include "tree_model.hpp"

namespace pin = pinocchio;
using casadi::SX;
using Symbols = Eigen::Matrix<SX, Eigen::Dynamic, 1>;

static Symbols elements(const SX& symbols) {
  Symbols found(symbols.size1());
  for (int i = 0; i < found.size(); ++i) found[i] = symbols(i);
  return found;
}

int main(int, char** arguments) {
  const pin::Model model = read_model(arguments[1]);
  const auto symbolic = model.cast<SX>();
  pin::DataTpl<SX> data(symbolic);
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), tau = SX::sym("tau", model.nv);
  pin::aba(symbolic, data, elements(q), elements(v), elements(tau));
  SX acceleration(model.nv, 1);
  for (int i = 0; i < model.nv; ++i) acceleration(i) = data.ddq[i];
  const casadi::Function aba("aba", {q, v, tau}, {acceleration});
  const std::string path(arguments[2]);
  const std::size_t slash = path.rfind('/') + 1;
  casadi::CodeGenerator code(path.substr(slash));
  code.add(aba);
  code.generate(path.substr(0, slash));
}
