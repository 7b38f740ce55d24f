// The Packbot's distances and dynamics in a C++ loop over pinocchio and coal, for packbot.py.
//
//     packbot_loop arm.urdf hulls.txt poses.txt distances   us a pose: distances of all pairs
//     packbot_loop arm.urdf hulls.txt poses.txt fall        us a step: dynamics, and distances
//
// Prints the processor time, and what Python checks against its own: the sum of all distances over
// all poses, or the state after the steps. `fall` knows no contact.

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/geometry.hpp>
#include <pinocchio/collision/distance.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include <coal/shape/convex.h>

#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>

namespace pin = pinocchio;

static pin::GeometryModel read_hulls(const pin::Model& model, const char* path) {
  pin::GeometryModel geometry;
  std::ifstream file(path);
  int hulls, pairs;
  file >> hulls >> pairs;
  for (int h = 0; h < hulls; ++h) {
    std::string name;
    std::size_t joint;
    unsigned points, faces;
    pin::SE3::Matrix3 rotation;
    pin::SE3::Vector3 translation;
    file >> name >> joint >> points >> faces;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) file >> rotation(i, j);
    for (int i = 0; i < 3; ++i) file >> translation[i];
    auto vertices = std::make_shared<std::vector<coal::Vec3s>>(points);
    for (auto& v : *vertices) file >> v[0] >> v[1] >> v[2];
    auto triangles = std::make_shared<std::vector<coal::Triangle>>();
    for (unsigned f = 0; f < faces; ++f) {
      unsigned a, b, c;
      file >> a >> b >> c;
      triangles->emplace_back(a, b, c);
    }
    auto shape = std::make_shared<coal::Convex<coal::Triangle>>(vertices, points, triangles, faces);
    geometry.addGeometryObject(
        pin::GeometryObject(name, joint, pin::SE3(rotation, translation), shape));
  }
  for (int p = 0; p < pairs; ++p) {
    std::size_t a, b;
    file >> a >> b;
    geometry.addCollisionPair(pin::CollisionPair(a, b));
  }
  return geometry;
}

int main(int, char** arguments) {
  pin::Model model;
  pin::urdf::buildModel(arguments[1], model);
  const pin::GeometryModel geometry = read_hulls(model, arguments[2]);
  pin::Data data(model);
  pin::GeometryData found(geometry);
  double tolerance, damping, step;
  int steps, count;
  std::ifstream file(arguments[3]);
  file >> tolerance >> damping >> step >> steps >> count;
  std::vector<Eigen::VectorXd> poses(count, Eigen::VectorXd(model.nq));
  for (auto& q : poses)
    for (int i = 0; i < model.nq; ++i) file >> q[i];
  for (auto& request : found.distanceRequests) request.gjk_tolerance = request.epa_tolerance = tolerance;
  const bool falls = std::string(arguments[4]) == "fall";
  Eigen::VectorXd q = poses[0], v = Eigen::VectorXd::Zero(model.nv);
  double sum = 0.0;
  const std::clock_t began = std::clock();
  if (falls) {
    for (int i = 0; i < steps; ++i) {
      v += step * pin::aba(model, data, q, v, Eigen::VectorXd(-damping * v));
      q += step * v;
      pin::updateGeometryPlacements(model, data, geometry, found, q);
      pin::computeDistances(geometry, found);
    }
    sum = q.sum();
  } else {
    for (const auto& pose : poses) {
      pin::updateGeometryPlacements(model, data, geometry, found, pose);
      pin::computeDistances(geometry, found);
      for (const auto& result : found.distanceResults) sum += result.min_distance;
    }
  }
  const double took = double(std::clock() - began) / CLOCKS_PER_SEC;
  std::cout << std::setprecision(17) << took << " " << sum << "\n";
}
