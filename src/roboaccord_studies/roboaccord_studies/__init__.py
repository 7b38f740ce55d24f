"""Studies that go beyond the source documents, a folder for each robot.

drawing.py has figures that they share, results_file.py the file from which a long study resumes,
identify.py the command of that name, and `sweep` the command `accord sweep`. Folders of further
robots may be added; a folder is imported only if its robot is installed, and nothing imports this
package but by entry points. Tests are in src/roboaccord_studies/test.
"""
