"""Files of any robot: what is read, where meshes are found, and how the root is renamed."""

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.description.tree import Tree
from roboaccord.description.tree_text import write_tree
from roboaccord.description.urdf_file import LARGEST, read_urdf

ARM = """<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="world"/>
  <link name="base_link">
    <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="package://arm_description/meshes/base.stl"/></geometry></visual>
    <collision><geometry><mesh filename="../meshes/base.stl"/></geometry></collision>
  </link>
  <joint name="mount" type="revolute">
    <parent link="world"/><child link="base_link"/><limit lower="-1" upper="1"/>
  </joint>
  <gazebo reference="base_link"/>
  <transmission name="drive"><joint name="mount"/></transmission>
</robot>"""

XACRO = '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
INCLUDE = '<xacro:include filename="$(find {})/urdf/{}"/>'


@pytest.fixture
def arm(tmp_path):
    """Return the file of an arm in a package that nobody has installed."""
    for name in ("urdf", "meshes"):
        (tmp_path / "arm_description" / name).mkdir(parents=True)
    (tmp_path / "arm_description" / "meshes" / "base.stl").touch()
    path = tmp_path / "arm_description" / "urdf" / "arm.urdf"
    path.write_text(ARM)
    return path


def meshes(urdf):
    return [mesh.get("filename") for mesh in ET.fromstring(urdf).iter("mesh")]


def test_meshes_are_found_beside_the_file_and_above_it(arm):
    """By the folder of the package's name above the file, and by a path relative to the file."""
    file = read_urdf(arm)
    assert (file.name, file.text) == ("arm", ARM)
    found = meshes(file.resolved())
    assert [name.rpartition("/")[2] for name in found] == ["base.stl", "base.stl"]
    assert all(name.startswith("/") for name in found)


def test_meshes_are_found_in_a_package_that_is_given(arm, tmp_path):
    """And what is not found keeps its name."""
    other = tmp_path / "elsewhere"
    (arm.parents[1] / "meshes").rename(other)
    arm.parents[1].rename(tmp_path / "renamed")
    moved = tmp_path / "renamed" / "urdf" / "arm.urdf"
    assert meshes(read_urdf(moved).resolved()) == meshes(ARM)
    (tmp_path / "share" / "meshes").mkdir(parents=True)
    mesh = (other / "base.stl").rename(tmp_path / "share" / "meshes" / "base.stl")
    found = read_urdf(moved, {"arm_description": tmp_path / "share"}).resolved()
    assert meshes(found) == [str(mesh), "../meshes/base.stl"]


def test_a_clone_of_another_name_is_the_package_that_its_manifest_names(arm, tmp_path):
    """As Universal_Robots_ROS2_Description is ur_description, for meshes and for xacro."""
    clone = arm.parents[1].rename(tmp_path / "Arm_ROS2_Description")
    moved = clone / "urdf" / "arm.urdf"
    whole = moved.with_name("whole.xacro")
    whole.write_text(XACRO.format(INCLUDE.format("arm_description", "arm.urdf")))
    (clone / "package.xml").write_text("<package><name>legs</name></package>")
    assert meshes(read_urdf(moved).resolved())[0].startswith("package://")
    with pytest.raises(AccordError, match="package arm_description is not found"):
        read_urdf(whole)
    with_name = clone.rename(tmp_path / "clone")
    (with_name / "package.xml").write_text("<package><name> arm_description </name></package>")
    for path in (with_name / "urdf" / "arm.urdf", with_name / "urdf" / "whole.xacro"):
        assert meshes(read_urdf(path).resolved())[0] == str(with_name / "meshes" / "base.stl")


ROTOR = """<transmission name="drive" xmlns:drake="{}"><joint name="mount"/><actuator name="m">
<drake:rotor_inertia value="1e-4"/></actuator></transmission>"""


def test_a_prefix_keeps_its_meaning_beside_another_file(arm, tmp_path):
    """Drake knows elements by their prefix; two files may bind it to different namespaces."""
    texts = [ARM.replace("</robot>", ROTOR.format(space) + "</robot>") for space in ("a", "b")]
    (tmp_path / "other.urdf").write_text(texts[1])
    arm.write_text(texts[0])
    files = [read_urdf(path) for path in (arm, tmp_path / "other.urdf")]
    assert all("<drake:rotor_inertia" in file.stripped() for file in files)
    tree = Tree.parse(texts[0], root="world")
    assert "<drake:rotor_inertia" in write_tree(tree, "arm")


def test_a_stripped_robot_keeps_its_links_and_joints(arm):
    """What is left has the same tree."""
    stripped = read_urdf(arm).stripped()
    tags = {element.tag for element in ET.fromstring(stripped).iter()}
    assert not tags & {"visual", "collision", "material", "gazebo", "transmission", "mesh"}
    tree, whole = (Tree.parse(text, root="world") for text in (stripped, ARM))
    assert [link.name for link in tree.links] == [link.name for link in whole.links]
    assert tree.links[1].mass == 2.0


def test_the_root_becomes_base_link(arm):
    """The link that has the name already takes another one, wherever it is named."""
    file = read_urdf(arm)
    text, root = file.rooted(file.stripped())
    assert root == "world"
    assert file.new_names() == {"world": "base_link", "base_link": "base_link_1"}
    assert [link.name for link in Tree.parse(text).links] == ["base_link", "base_link_1"]
    whole = ET.fromstring(file.rooted()[0])
    assert whole.find("gazebo").get("reference") == "base_link_1"
    assert whole.find("joint").get("name") == "mount"


def test_xacro_finds_its_packages_as_meshes_are_found(arm):
    """`$(find ...)` asks no ament."""
    part = arm.with_name("part.xacro")
    part.write_text(ARM.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    whole = arm.with_name("whole.urdf.xacro")
    whole.write_text(XACRO.format(INCLUDE.format("arm_description", "part.xacro")))
    assert Tree.parse(read_urdf(whole).text, root="world").moving[0].name == "mount"
    whole.write_text(XACRO.format(INCLUDE.format("legs", "part.xacro")))
    with pytest.raises(AccordError, match=r"xacro: package legs is not found: --package legs=DIR$"):
        read_urdf(whole)
    assert read_urdf(whole, {"legs": arm.parents[1]}).name == "arm"


def test_xacro_takes_arguments_and_relative_packages(arm, monkeypatch):
    """The mount's limit is an argument; the package is named from the working directory."""
    space = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'
    part = arm.with_name("part.xacro")
    part.write_text(ARM.replace("<robot", space).replace('upper="1"', 'upper="$(arg top)"'))
    whole = arm.parents[2] / "whole.urdf.xacro"
    line = '<xacro:arg name="top" default="1"/><xacro:include filename="$(find legs)/part.xacro"/>'
    whole.write_text(f'{space} name="arm">{line}</robot>')
    monkeypatch.chdir(arm.parents[1])
    file = read_urdf(whole, {"legs": Path("urdf")}, {"top": "0.25"})
    assert ET.fromstring(file.text).find("joint/limit").get("upper") == "0.25"


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_packages_are_found_where_ros_looks(arm, tmp_path, monkeypatch, variable):
    """A name with a hyphen is one, too."""
    ament = variable == "AMENT_PREFIX_PATH"
    home = tmp_path / "ws" / ("share" if ament else "")
    home.mkdir(parents=True)
    arm.parents[1].rename(home / "arm-description")
    alone = tmp_path / "alone.urdf"
    alone.write_text(ARM.replace("arm_description", "arm-description"))
    monkeypatch.delenv(variable, raising=False)
    assert meshes(read_urdf(alone).resolved())[0].startswith("package://")
    monkeypatch.setenv(variable, f"/no/such:{tmp_path / 'ws'}")
    found = home / "arm-description" / "meshes" / "base.stl"
    assert meshes(read_urdf(alone).resolved())[0] == str(found)


def test_a_default_namespace_and_standard_input_are_read(monkeypatch):
    text = ARM.replace("<robot", '<robot xmlns="http://ros.org"')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert read_urdf(Path("-")).text == ARM


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hello", "arm.urdf is not XML: "),
        ("<sdf/>", "arm.urdf holds no robot: its first element is <sdf>"),
        ("<robot/>", "arm.urdf holds a robot without links"),
        ("<robot>" + 9999 * "<link>" + 9999 * "</link>" + "</robot>", "maximum recursion depth"),
        (f"<robot>{2001 * '<link/>'}</robot>", "arm.urdf holds more than 2000 links"),
        (" " * (LARGEST + 1), "arm.urdf: it is larger than 10 MB"),
        (b"<robot name='\xff'/>", "arm.urdf is not XML|holds a robot without links"),
        (None, "cannot read .*arm.urdf: No such file or directory"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(tmp_path, text, line):
    path = tmp_path / "arm.urdf"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(AccordError, match=line) as raised:
        read_urdf(path)
    assert "\n" not in str(raised.value)


def test_latin_1_is_read_as_it_is_declared(tmp_path):
    path = tmp_path / "arm.urdf"
    text = '<robot name="bras \xe9"><link name="a"/></robot>'
    path.write_bytes(f'<?xml version="1.0" encoding="iso-8859-1"?>{text}'.encode("latin-1"))
    assert read_urdf(path).name == "bras \xe9"


def test_meshes_are_found_through_a_link_to_the_file(arm, tmp_path):
    """Above the file itself, where there is nothing above the link."""
    link = tmp_path / "link.urdf"
    link.symlink_to(arm)
    assert meshes(read_urdf(link).resolved())[0] == str(arm.parents[1] / "meshes" / "base.stl")


def test_blanks_before_the_declaration_keep_the_lines(tmp_path):
    path = tmp_path / "late.urdf"
    path.write_text('\n\n<?xml version="1.0"?>\n<robot name="r">\n<link name="a"/>\n</robot>\n')
    text = read_urdf(path).text
    assert text.startswith("<?xml") and text.splitlines()[4] == '<link name="a"/>'


@pytest.mark.parametrize(
    "mesh",
    ["meshes/a.stl", "meshes\\a.stl", "model://arm/meshes/a.stl", "package://arm/meshes/a.stl"],
)
def test_a_mesh_is_found_as_its_tools_find_it(tmp_path, monkeypatch, mesh):
    """Relative to the file, with backslashes, and by the variables of Gazebo."""
    folder = tmp_path / "models" / "arm"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "a.stl").touch()
    home = folder if ":" not in mesh else tmp_path
    (home / "r.urdf").write_text('<robot name="r"><link name="base"/></robot>')
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", f"/no/such:{tmp_path / 'models'}")
    assert read_urdf(home / "r.urdf").find(mesh) == folder / "meshes" / "a.stl"
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", "")
    assert (read_urdf(home / "r.urdf").find(mesh) is None) == (":" in mesh)
