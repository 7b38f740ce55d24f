# The workspace's commands; `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
ROS_VENV := .venv_ros
ACCORD := $(VENV)/bin/accord
PACKAGES := $(patsubst %/setup.py,%,$(wildcard src/*/setup.py))
ORDERED := $(addprefix src/,roboaccord roboaccord_ros snake monkeybot packbot roller_sphere voxel_sphere)
OTHERS := $(filter-out $(ORDERED),$(PACKAGES))
descriptions = $(foreach p,$(1),$(wildcard $(p)/setup.py $(p)/setup.cfg))
CORE := 1
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11
INSTALL := .ci/install.py
WHEELS := --only-binary :all:
# Modules are compiled when they are first imported, which most never are: 160 MB.
LEAN := --no-compile
# PyPI has unrelated packages of these names, so the local packages are installed by path, without
# resolution; the lock has setuptools, so that building them resolves nothing either.
LOCAL := --no-build-isolation --use-pep517
MODULES := $(foreach p,$(PACKAGES),$(p)/$(notdir $(p)))
# Two workers; the tests of a module run in one of them, for they share fixtures. The long modules, of
# whole commands, come first, and the many small ones fill the gaps.
# One thread of BLAS each: more than there are cores wait for each other, and take many times the CPU.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(VENV)/bin/python -m pytest -n 2 \
    --dist loadfile --no-loadscope-reorder
# Tests that take a few minutes without compilation, where an index out of bounds raises.
INTERPRETED := test/test_interpreted.py $(wildcard src/roboaccord_files/test/test_readings.py) \
    $(patsubst %,src/roboaccord/test/test_%.py,complementarity \
    description_checks dynamics joint_space kinematics numerics parameters urdf_file)
UV := uv==0.13.8
COMPILE := .lock/bin/uv pip compile --quiet $(UPGRADE) --universal --fork-strategy fewest \
    --override demo.override --no-annotate --no-header --no-emit-index-url --no-emit-find-links --generate-hashes
UPGRADE := --upgrade

# With ROS sourced, its libraries would come before the locked ones.
ifeq ($(filter ros,$(MAKECMDGOALS))$(filter $(ROS_VENV)/%,$(MAKECMDGOALS)),)
unexport PYTHONPATH LD_LIBRARY_PATH AMENT_PREFIX_PATH COLCON_PREFIX_PATH _ROS_WHEELS_BOOTSTRAP_COMPLETE
endif
# Else each of the thousands of processes of the tests compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: demo
demo: $(VENV)/.demo ## run the snake as ROS 2 nodes, cross-check its simulators, and render an animation
	@echo '$$ accord run snake serpenoid'
	@$(ACCORD) run snake serpenoid
	@echo '$$ accord crosscheck snake serpenoid'
	@$(ACCORD) crosscheck snake serpenoid
	@run=$$(ls -td runs/snake_serpenoid_reference*/ | head -n 1); run=$${run%/}; \
	echo "$$ accord view $$run/bag --gif $$run/snake.gif"; \
	$(ACCORD) view $$run/bag --gif $$run/snake.gif; \
	echo "animation: file://$(CURDIR)/$$run/snake.gif"; \
	echo "in the browser: $(ACCORD) view $$run/bag, then open http://127.0.0.1:8080"; \
	echo "bag and report are in the folders named above; more: $(ACCORD) --help"

.PHONY: core
core: $(VENV)/.core ## install the core, its nodes and the five robots alone, without engines

.PHONY: test
test: lint ## lint, and run all but the slow tests
	$(PYTEST) -m "not slow"

.PHONY: test-all
test-all: types test bounds $(VENV)/.fleet $(VENV)/.engines ## check types, run test, bounds and the slow tests, as CI does
	$(PYTEST) -m slow

.PHONY: test-quick
test-quick: $(VENV)/.dev ## run the unit tests of all packages, while you edit
	$(PYTEST) -m "not slow and not thorough"

.PHONY: bounds
bounds: $(VENV)/.dev ## run the quick tests with array bounds checked, and some without compilation
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "not slow and not thorough"
	NUMBA_DISABLE_JIT=1 $(PYTEST) $(INTERPRETED)

.PHONY: lint
lint: $(VENV)/.dev ## check lint rules and format
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check --quiet || \
	    { $(VENV)/bin/ruff format --check; echo "run: make format" >&2; exit 1; }

.PHONY: types
types: $(VENV)/.dev ## check types with mypy
	$(VENV)/bin/mypy $(MODULES) benchmarks

.PHONY: format
format: $(VENV)/.dev ## format the code, and apply automatic lint fixes
	$(VENV)/bin/ruff check --fix-only --quiet
	$(VENV)/bin/ruff format

.PHONY: speed
speed: $(VENV)/.speed ## benchmark against peer libraries on one core: SPEED="--only gait", --json, --page FILE
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 taskset -c $(CORE) \
	    $(VENV)/bin/python -m benchmarks.speed $(SPEED)

.PHONY: hashes
hashes: $(VENV)/.dev ## hash the results of all scenarios and commands, and compare with a file: HASHES="--out FILE --against FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.hashes $(HASHES)

.PHONY: settings
settings: $(VENV)/.dev ## run every contact benchmark under each engine setting: SETTINGS="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.settings $(SETTINGS)

.PHONY: sound
sound: $(VENV)/.dev ## rate of false alarms, by 400 cross-checks of correct engines: SOUND="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.sound_checks $(SOUND)

.PHONY: detection
detection: $(VENV)/.dev ## failures of drawn arms that the Packbot's detector names, and false alarms: DETECTION="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.detection $(DETECTION)

.PHONY: recovery
recovery: $(VENV)/.dev ## targets that a Packbot with failed joints reaches: RECOVERY="--fault elbow1=loose --out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.recovery $(RECOVERY)

.PHONY: rolling-errors
rolling-errors: $(VENV)/.dev ## errors of the voxel sphere's schemes, and of bounces: ROLLING="--n 50 --no-walls --binary"
	$(VENV)/bin/python -m benchmarks.campaigns.rolling_errors $(ROLLING)

.PHONY: own-logs
own-logs: $(VENV)/.dev ## detection rate of accord crosscheck LOG, by errors in logs of foreign simulators: OWN_LOGS="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.own_logs $(OWN_LOGS)

.PHONY: real-logs
real-logs: $(VENV)/.dev ## false causes and errors named in logs of drives: current, counts, without gravity, late: REAL_LOGS="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.real_logs $(REAL_LOGS)

.PHONY: planted
planted: $(VENV)/.dev ## detection rate of the cross-check by level, for errors planted in engines: PLANTED="--out FILE"
	$(VENV)/bin/python -m benchmarks.campaigns.planted_errors $(PLANTED)

.PHONY: kills
kills: $(VENV)/.dev ## kill long commands at random times, and check the files left: SEED=0 COUNT=100 ONLY
	$(VENV)/bin/python benchmarks/faults/kills.py --seed $(or $(SEED),0) --count $(or $(COUNT),100) \
	    $(if $(ONLY),--only $(ONLY))

.PHONY: limits
limits: $(VENV)/.dev ## run commands with too little memory, open files or disk: ONLY
	$(VENV)/bin/python benchmarks/faults/limits.py $(if $(ONLY),--only $(ONLY))

.PHONY: fuzz
fuzz: $(VENV)/.dev ## fuzz all commands and the servers of views, unprivileged: SEED, SECONDS, PROCESSES, ATTACKS, ONLY
	$(VENV)/bin/python benchmarks/fuzz $(if $(SEED),--seed $(SEED)) $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(PROCESSES),--processes $(PROCESSES)) $(if $(ATTACKS),--attacks $(ATTACKS)) \
	    $(if $(ONLY),--only $(ONLY))

.PHONY: mutation
mutation: SECONDS := 3600
mutation: $(VENV)/.dev ## mutation testing: PACKAGE, CHANGE, COUNT, SEED, SECONDS
	nice $(VENV)/bin/python benchmarks/mutation --seed $(SEED) --seconds $(SECONDS) \
	    --count $(or $(COUNT),50) $(if $(PACKAGE),--package $(PACKAGE)) \
	    $(if $(CHANGE),--change $(CHANGE))

.PHONY: images
images: $(VENV)/.demo ## regenerate the figures of docs/images
	@rm -rf runs/images
	$(ACCORD) snake figures --out runs/images/snake
	$(ACCORD) monkeybot figures --out runs/images/monkeybot
	$(ACCORD) monkeybot stability --out runs/images/monkeybot_map
	$(ACCORD) monkeybot design --out runs/images/monkeybot_design
	$(ACCORD) packbot figures --out runs/images/packbot
	$(ACCORD) roller-sphere figures --out runs/images/roller_sphere
	$(ACCORD) roller-sphere survey --out runs/images/roller_sphere_map
	$(ACCORD) voxel-sphere make ramp --n 100 --out runs/images/ramps
	$(ACCORD) voxel-sphere roll runs/images/ramps --omega 6 3 --start 18 50 --time 3 \
	    --after reflected --out runs/images/voxel_sphere
	@for file in runs/images/*/*.svg; do folder=$$(basename $$(dirname $$file)); \
	    cp $$file docs/images/$${folder%_map}_$$(basename $$file); done

.PHONY: films
films: $(VENV)/.fleet ## make the films of docs/images anew, by films.yaml: FILMS="--force snake_pegs"
	$(VENV)/bin/python -m benchmarks.campaigns.films $(FILMS)

.PHONY: site
site: $(VENV)/.site ## build the documentation site, which opens with or without a web server
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build -f .ci/mkdocs.yml
	@echo "site: file://$(CURDIR)/site/index.html; search needs a server: python3 -m http.server -d site"

.PHONY: shared
shared: $(VENV)/.demo ## regenerate the files of config/, models/ and worlds/ from the robots' descriptions
	$(VENV)/bin/python -m benchmarks.shared.files

.PHONY: ros
ros: ## build with colcon on a machine with ROS 2 Jazzy or Lyrical; YES=1 installs missing packages
	@python3 .ci/ros_machine.py $(if $(filter 1,$(YES)),--install) >&2
	@set +u; [ -n "$${ROS_DISTRO-}" ] || source /opt/ros/$$(python3 .ci/ros_machine.py --distro)/setup.bash; set -u; \
	$(MAKE) --no-print-directory $(ROS_VENV)/.ros; \
	$(ROS_VENV)/bin/python -m colcon build --symlink-install
	@echo "now: source install/setup.bash && ros2 launch snake lateral_undulation.launch.py"

.PHONY: lock
lock: ## update the locked versions in requirements/*.txt; UPGRADE= keeps those that still fit
	@# empy has no wheel, and only the generators of messages need it.
	python3 -m venv .lock
	.lock/bin/pip --quiet install $(UV)
	cd requirements && for name in dev core demo action ros site; do \
	    options=; \
	    case $$name in core | demo | action | site) options="-c dev.txt" ;; esac; \
	    if [ $$name = ros ]; then options="--override ros.override"; fi; \
	    ../$(COMPILE) --python-version 3.11 $$options $$name.in -o $$name.txt; \
	    without="sys_platform == '(win32|never)'"; \
	    if [ $$name = demo ]; then without="$$without|^empy=="; fi; \
	    awk -v "without=$$without" '/^[a-z]/ { out = $$0 ~ without } !out' $$name.txt > lock.tmp; \
	    mv lock.tmp $$name.txt; \
	done
	rm -r .lock

.PHONY: clean
clean: ## remove all generated files except runs/
	rm -rf $(VENV) $(ROS_VENV) .lock build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf src/*/build src/*/*.egg-info
	find src test -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.core: requirements/core.txt $(call descriptions,$(ORDERED)) | $(VENV)/bin/python
	@$(VENV)/bin/python $(INSTALL) "the core's wheels: 170 MB to download, once" $(LEAN) $(WHEELS) -r $<
	@$(VENV)/bin/python $(INSTALL) "the core, its nodes and the robots" $(LOCAL) $(addprefix -e ./,$(ORDERED))
	@touch $@

# The headers are for compilers alone: half of what the wheels of the Packbot's reference take.
$(VENV)/.wheels: requirements/demo.txt | $(VENV)/.core
	@$(VENV)/bin/python $(INSTALL) "engines, the Packbot's reference, ROS, views: 182 MB to download, once" \
	    $(LEAN) $(WHEELS) -r $<
	@rm -rf $(VENV)/include/*/ $(VENV)/lib/python3.*/site-packages/cmeel.prefix/include
	@touch $@

$(VENV)/.demo: $(VENV)/.core $(VENV)/.wheels $(call descriptions,$(OTHERS))
	@$(VENV)/bin/python $(INSTALL) "the other packages of src/" $(LOCAL) $(addprefix -e ./,$(OTHERS))
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.demo
	@$(VENV)/bin/python $(INSTALL) "tools of the tests: 197 MB to download, once" $(LEAN) $(LOCAL) -r $<
	@touch $@

$(VENV)/.fleet: requirements/fleet.txt | $(VENV)/.dev
	@$(VENV)/bin/python $(INSTALL) "a collection of robots: 131 MB to download, once" $(LEAN) $(WHEELS) -r $<
	@touch $@

$(VENV)/.engines: requirements/engines.txt | $(VENV)/.dev
	@$(VENV)/bin/python $(INSTALL) "SAPIEN: 49 MB to download, once" $(LEAN) $(WHEELS) -r $<
	@touch $@

$(VENV)/.site: requirements/site.txt | $(VENV)/.demo
	@$(VENV)/bin/python $(INSTALL) "tools of the site: 40 MB to download, once" $(LEAN) $(WHEELS) -r $<
	@touch $@

# Peers in C++ are compiled, so the wheels whose headers were left out are unpacked again.
$(VENV)/.speed: requirements/speed.txt $(VENV)/.wheels | $(VENV)/.fleet
	@$(VENV)/bin/python $(INSTALL) "libraries of the peers of make speed: 99 MB to download, once" $(LEAN) $(WHEELS) -r $<
	@awk '/^[a-z]/ { out = /^(cmeel-boost|coal|libcoal|libpinocchio|pin)==/ } out' requirements/demo.txt >$@.txt
	@$(VENV)/bin/python $(INSTALL) "their headers: 55 MB to download, once" $(LEAN) $(WHEELS) --force-reinstall -r $@.txt
	@rm $@.txt
	@touch $@

$(ROS_VENV)/.ros: requirements/ros.txt
	@rm -rf $(ROS_VENV) && python3 -m venv --system-site-packages $(ROS_VENV)
	@$(ROS_VENV)/bin/python $(INSTALL) "what ROS lacks: 306 MB to download, once" $(WHEELS) -r $<
	@rm -rf $(ROS_VENV)/lib/python3.*/site-packages/cmeel.prefix/include
	@touch $@

$(VENV)/bin/python:
	@found=; for python in $(PYTHONS); do \
	    if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
	        2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "make: no Python 3.11 to 3.14: apt-get install python3 python3-venv" >&2; exit 2; fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "make: $$found has no venv: apt-get install python3-venv" >&2; exit 2; fi; \
	"$$found" -m venv $(VENV)
