// RK4 of a robot's file in a C++ loop over pinocchio's forward dynamics, for trees.py.
//
//     tree_loop model.txt fixed|free rate step count            by pinocchio::aba
//     tree_loop model.txt fixed|free rate step count code.so    by code that was generated of it
//
// All joints start at 0 with one rate. Four evaluations a step; the twist of a free base is that in
// the world, and its quaternion is normalised after each step, as in this project. Prints the
// processor time and the angles of all joints by name.

#include <pinocchio/algorithm/aba.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>

#include "tree_model.hpp"

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using Code = int(const double** in, double** out, long long* integers, double* work, int memory);

struct State {
  Vector q, v;  // of a free base: place, quaternion x y z w; linear and angular rates in the world
};

template <typename Accelerate>
class Loop {
 public:
  Loop(const pin::Model& model, bool free, Accelerate accelerate)
      : free_(free), accelerate_(accelerate), q_(model.nq), v_(model.nv), a_(model.nv) {
    for (State* state : {&slope_, &stage_, &end_}) *state = {Vector(model.nq), Vector(model.nv)};
  }

  void step(State& state, double h) {
    static constexpr double REACH[] = {0.5, 0.5, 1.0}, WEIGHT[] = {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0};
    end_ = state;
    for (int k = 0; k < 4; ++k) {
      differentiate(k ? stage_ : state);
      end_.q.noalias() += WEIGHT[k] * h * slope_.q;
      end_.v.noalias() += WEIGHT[k] * h * slope_.v;
      if (k == 3) break;
      stage_.q.noalias() = state.q + REACH[k] * h * slope_.q;
      stage_.v.noalias() = state.v + REACH[k] * h * slope_.v;
    }
    if (free_) end_.q.segment<4>(3).normalize();
    std::swap(state.q, end_.q);
    std::swap(state.v, end_.v);
  }

 private:
  void differentiate(const State& at) {
    if (!free_) {
      slope_.q = at.v;
      accelerate_(at.q, at.v, slope_.v);
      return;
    }
    q_ = at.q;
    v_ = at.v;
    q_.segment<4>(3).normalize();
    const Eigen::Quaterniond turned(q_.data() + 3);
    const Eigen::Matrix3d rotation = turned.toRotationMatrix();
    const Eigen::Vector3d linear = at.v.head<3>(), angular = at.v.segment<3>(3);
    v_.head<3>() = rotation.transpose() * linear;
    v_.segment<3>(3) = rotation.transpose() * angular;
    accelerate_(q_, v_, a_);
    slope_.q.head<3>() = linear;
    const Eigen::Vector3d x = at.q.segment<3>(3);
    slope_.q.segment<3>(3) = 0.5 * (at.q[6] * angular + angular.cross(x));
    slope_.q[6] = -0.5 * angular.dot(x);
    slope_.q.tail(q_.size() - 7) = at.v.tail(q_.size() - 7);
    slope_.v = a_;
    // pinocchio's acceleration is spatial: that of the base's point has the centripetal part, too.
    slope_.v.head<3>() = rotation * a_.head<3>() + angular.cross(linear);
    slope_.v.segment<3>(3) = rotation * a_.segment<3>(3);
  }

  bool free_;
  Accelerate accelerate_;
  Vector q_, v_, a_;
  State slope_, stage_, end_;
};

template <typename Accelerate>
double run(const pin::Model& model, bool free, State& state, double h, long count, Accelerate accelerate) {
  Loop<Accelerate> loop(model, free, accelerate);
  const std::clock_t began = std::clock();
  for (long i = 0; i < count; ++i) loop.step(state, h);
  return double(std::clock() - began) / CLOCKS_PER_SEC;
}

Code* load(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  void* code = library ? dlsym(library, "aba") : nullptr;
  if (!code) throw std::runtime_error(dlerror());
  return reinterpret_cast<Code*>(code);
}

int main(int number, char** arguments) {
  const pin::Model model = read_model(arguments[1]);
  const bool free = std::string(arguments[2]) == "free";
  State state{Vector::Zero(model.nq), Vector::Zero(model.nv)};
  if (free) state.q[6] = 1.0;
  state.v.tail(model.nv - 6 * free).setConstant(std::atof(arguments[3]));
  const double h = std::atof(arguments[4]);
  const long count = std::atol(arguments[5]);
  const Vector none = Vector::Zero(model.nv);
  double took;
  if (number > 6) {
    Code* code = load(arguments[6]);
    took = run(model, free, state, h, count, [&](const Vector& q, const Vector& v, Vector& a) {
      const double* in[] = {q.data(), v.data(), none.data()};
      double* out[] = {a.data()};
      code(in, out, nullptr, nullptr, 0);
    });
  } else {
    pin::Data data(model);
    took = run(model, free, state, h, count, [&](const Vector& q, const Vector& v, Vector& a) {
      a = pin::aba(model, data, q, v, none);
    });
  }
  std::cout << std::setprecision(17) << took << "\n";
  for (pin::JointIndex j = free ? 2 : 1; j < pin::JointIndex(model.njoints); ++j)
    std::cout << model.names[j] << " " << state.q[model.joints[j].idx_q()] << "\n";
}
