// The model of a robot's file, as tree_loops.py writes it from pinocchio's own reader: how many
// joints, and for each its name, type, axis, parent, placement (R, p), and the mass, centre and
// inertia of what it moves.

#include <pinocchio/multibody.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

template <typename Matrix>
Matrix read(std::istream& file) {
  Matrix found;
  for (int i = 0; i < found.rows(); ++i)
    for (int j = 0; j < found.cols(); ++j) file >> found(i, j);
  return found;
}

inline pinocchio::JointModel joint_of(const std::string& type, const Eigen::Vector3d& axis) {
  using namespace pinocchio;
  if (type == "JointModelRX") return JointModelRX();
  if (type == "JointModelRY") return JointModelRY();
  if (type == "JointModelRZ") return JointModelRZ();
  if (type == "JointModelPX") return JointModelPX();
  if (type == "JointModelPY") return JointModelPY();
  if (type == "JointModelPZ") return JointModelPZ();
  if (type == "JointModelRevoluteUnaligned") return JointModelRevoluteUnaligned(axis);
  if (type == "JointModelPrismaticUnaligned") return JointModelPrismaticUnaligned(axis);
  if (type == "JointModelFreeFlyer") return JointModelFreeFlyer();
  throw std::runtime_error("no joint of the type " + type);
}

inline pinocchio::Model read_model(const char* path) {
  pinocchio::Model model;
  std::ifstream file(path);
  int joints;
  file >> joints;
  for (int i = 0; i < joints; ++i) {
    std::string name, type;
    file >> name >> type;
    const auto axis = read<Eigen::Vector3d>(file);
    pinocchio::JointIndex parent;
    file >> parent;
    const auto rotation = read<Eigen::Matrix3d>(file);
    const auto place = read<Eigen::Vector3d>(file);
    double mass;
    file >> mass;
    const auto centre = read<Eigen::Vector3d>(file);
    const auto inertia = read<Eigen::Matrix3d>(file);
    const auto joint = model.addJoint(parent, joint_of(type, axis), {rotation, place}, name);
    model.appendBodyToJoint(joint, {mass, centre, inertia});
  }
  if (!file) throw std::runtime_error(std::string("no model in ") + path);
  return model;
}
