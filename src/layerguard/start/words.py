"""What click says of the commands: made by `python tests/generated_start.py`."""

from __future__ import annotations

HELP: dict[str, dict[int, str]] = {
    "": {
        80: """\
Usage: layerguard [OPTIONS] COMMAND [ARGS]...

  Check which packages of a Python code base may import which.

  Contracts stand in layerguard.toml, or in pyproject.toml below
  [tool.layerguard]. Exit status: 0 all contracts kept, 1 violations, 2 the
  check could not be made.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  check    Check the imports of the project against its contracts.
  clean    Remove the cache: what `check` keeps for the next run.
  debt     Tell how many allowances there are, whose and how old.
  explain  Tell what a code or a kind means, or all about a contract.
  ratchet  Remove the allowances that are no longer needed.
  test     Test the contracts with imports that they must catch.
  why      Show by which imports one module comes to another.
""",
        100: """\
Usage: layerguard [OPTIONS] COMMAND [ARGS]...

  Check which packages of a Python code base may import which.

  Contracts stand in layerguard.toml, or in pyproject.toml below [tool.layerguard]. Exit status: 0
  all contracts kept, 1 violations, 2 the check could not be made.

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  check    Check the imports of the project against its contracts.
  clean    Remove the cache: what `check` keeps for the next run.
  debt     Tell how many allowances there are, whose and how old.
  explain  Tell what a code or a kind means, or all about a contract.
  ratchet  Remove the allowances that are no longer needed.
  test     Test the contracts with imports that they must catch.
  why      Show by which imports one module comes to another.
""",
    },
    "check": {
        80: """\
Usage: layerguard check [OPTIONS] [PATH]…

  Check the imports of the project against its contracts.

  PATHs limit what is reported, not what is read. --fix needs the extra
  layerguard[fix], and rewrites what 'removed' contracts have new names for.

  Exit status: 0 all contracts kept, 1 violations (with --diff: something to
  fix), 2 the check could not be made.

Options:
  --contract ID                   Check this contract only (repeatable).
  --output-format [full|concise|json|github|gitlab|sarif|junit]
                                  How to report. Default: full; in GitHub
                                  Actions github, in GitLab CI gitlab.
  --output-file FILE              Write the report there instead of printing
                                  it.
  --base REV                      Compare the allowance file with this
                                  revision. Default: what CI or the
                                  configuration names, or HEAD.
  --strict-contracts              Fail when a contract promises less than at
                                  the base.
  --show-allowed                  Report the violations that have an allowance
                                  too.
  --fix                           Rewrite the old names of moved modules
                                  first.
  --diff                          Print what --fix would change, and stop
                                  there.
  --no-cache                      Read everything anew, and keep nothing for
                                  the next run.
  --cache-dir DIRECTORY           Where to keep what was found. Default:
                                  LAYERGUARD_CACHE_DIR, or .layerguard_cache
                                  in the project.
  --exit-zero                     Exit with 0 even if there are violations.
  -h, --help                      Show this message and exit.
""",
        100: """\
Usage: layerguard check [OPTIONS] [PATH]…

  Check the imports of the project against its contracts.

  PATHs limit what is reported, not what is read. --fix needs the extra layerguard[fix], and
  rewrites what 'removed' contracts have new names for.

  Exit status: 0 all contracts kept, 1 violations (with --diff: something to fix), 2 the check
  could not be made.

Options:
  --contract ID                   Check this contract only (repeatable).
  --output-format [full|concise|json|github|gitlab|sarif|junit]
                                  How to report. Default: full; in GitHub Actions github, in
                                  GitLab CI gitlab.
  --output-file FILE              Write the report there instead of printing it.
  --base REV                      Compare the allowance file with this revision. Default: what CI
                                  or the configuration names, or HEAD.
  --strict-contracts              Fail when a contract promises less than at the base.
  --show-allowed                  Report the violations that have an allowance too.
  --fix                           Rewrite the old names of moved modules first.
  --diff                          Print what --fix would change, and stop there.
  --no-cache                      Read everything anew, and keep nothing for the next run.
  --cache-dir DIRECTORY           Where to keep what was found. Default: LAYERGUARD_CACHE_DIR, or
                                  .layerguard_cache in the project.
  --exit-zero                     Exit with 0 even if there are violations.
  -h, --help                      Show this message and exit.
""",
    },
    "clean": {
        80: """\
Usage: layerguard clean [OPTIONS]

  Remove the cache: what `check` keeps for the next run.

  That is the folder .layerguard_cache in the project root, unless another one
  is named.

Options:
  --cache-dir DIRECTORY  Where the cache is, if not in its usual place.
  -h, --help             Show this message and exit.
""",
        100: """\
Usage: layerguard clean [OPTIONS]

  Remove the cache: what `check` keeps for the next run.

  That is the folder .layerguard_cache in the project root, unless another one is named.

Options:
  --cache-dir DIRECTORY  Where the cache is, if not in its usual place.
  -h, --help             Show this message and exit.
""",
    },
    "debt": {
        80: """\
Usage: layerguard debt [OPTIONS]

  Tell how many allowances there are, whose and how old.

  Also how their number changed with the last commits that touched the
  allowance file. Owners are those of the CODEOWNERS file.

Options:
  --output-format [full|json]  How to tell it.
  --last N                     How many commits to show.  [default: 20; x>=1]
  -h, --help                   Show this message and exit.
""",
        100: """\
Usage: layerguard debt [OPTIONS]

  Tell how many allowances there are, whose and how old.

  Also how their number changed with the last commits that touched the allowance file. Owners are
  those of the CODEOWNERS file.

Options:
  --output-format [full|json]  How to tell it.
  --last N                     How many commits to show.  [default: 20; x>=1]
  -h, --help                   Show this message and exit.
""",
    },
    "explain": {
        80: """\
Usage: layerguard explain [OPTIONS] CODE|KIND|ID

  Tell what a code or a kind means, or all about a contract.

  Of a contract: what it says, whether it holds, and what it allows today.

Options:
  -h, --help  Show this message and exit.
""",
        100: """\
Usage: layerguard explain [OPTIONS] CODE|KIND|ID

  Tell what a code or a kind means, or all about a contract.

  Of a contract: what it says, whether it holds, and what it allows today.

Options:
  -h, --help  Show this message and exit.
""",
    },
    "merge-driver": {
        80: """\
Usage: layerguard merge-driver [OPTIONS] BASE OURS THEIRS

  Merge three versions of the allowance file into OURS, for git.

  Exit status 1: one of them cannot be read, and OURS is as it was.

Options:
  -h, --help  Show this message and exit.
""",
        100: """\
Usage: layerguard merge-driver [OPTIONS] BASE OURS THEIRS

  Merge three versions of the allowance file into OURS, for git.

  Exit status 1: one of them cannot be read, and OURS is as it was.

Options:
  -h, --help  Show this message and exit.
""",
    },
    "ratchet": {
        80: """\
Usage: layerguard ratchet [OPTIONS]

  Remove the allowances that are no longer needed.

  Those of modules that moved are rewritten. None is ever added to a contract
  that the base has. In a CI system nothing is written, and the exit status is
  that of --check.

Options:
  --check     Write nothing; exit with 1 if something would be written.
  --adopt ID  Write the first allowances of a contract that the base does not
              have.
  --base REV  Compare the allowance file with this revision. Default: what CI
              or the configuration names, or HEAD.
  --resolve   Mend a merge conflict in the allowance file.
  -h, --help  Show this message and exit.
""",
        100: """\
Usage: layerguard ratchet [OPTIONS]

  Remove the allowances that are no longer needed.

  Those of modules that moved are rewritten. None is ever added to a contract that the base has.
  In a CI system nothing is written, and the exit status is that of --check.

Options:
  --check     Write nothing; exit with 1 if something would be written.
  --adopt ID  Write the first allowances of a contract that the base does not have.
  --base REV  Compare the allowance file with this revision. Default: what CI or the configuration
              names, or HEAD.
  --resolve   Mend a merge conflict in the allowance file.
  -h, --help  Show this message and exit.
""",
    },
    "test": {
        80: """\
Usage: layerguard test [OPTIONS]

  Test the contracts with imports that they must catch.

  The code of each [[contract.plant]] is put into the project, in memory.
  Nothing is written. Exit status: 1 when a plant was missed, or caught and
  should not be, or a contract catches nothing.

Options:
  --auto         Derive imports that must break each contract, and plant them.
  --contract ID  Test this contract only (repeatable).
  -h, --help     Show this message and exit.
""",
        100: """\
Usage: layerguard test [OPTIONS]

  Test the contracts with imports that they must catch.

  The code of each [[contract.plant]] is put into the project, in memory. Nothing is written. Exit
  status: 1 when a plant was missed, or caught and should not be, or a contract catches nothing.

Options:
  --auto         Derive imports that must break each contract, and plant them.
  --contract ID  Test this contract only (repeatable).
  -h, --help     Show this message and exit.
""",
    },
    "why": {
        80: """\
Usage: layerguard why [OPTIONS] IMPORTER IMPORTED

  Show by which imports one module comes to another.

  That is the shortest chain from IMPORTER to IMPORTED, one place a line. Both
  may be packages; IMPORTED may be external, or a name in a module. Exit
  status: 0 a chain, 1 none.

Options:
  --reach [direct|transitive|load]
                                  direct: single imports. transitive: chains.
                                  load: what importing IMPORTER really loads.
                                  [default: transitive]
  --all N                         Show the N shortest chains instead of one.
                                  [x>=1]
  -h, --help                      Show this message and exit.
""",
        100: """\
Usage: layerguard why [OPTIONS] IMPORTER IMPORTED

  Show by which imports one module comes to another.

  That is the shortest chain from IMPORTER to IMPORTED, one place a line. Both may be packages;
  IMPORTED may be external, or a name in a module. Exit status: 0 a chain, 1 none.

Options:
  --reach [direct|transitive|load]
                                  direct: single imports. transitive: chains. load: what importing
                                  IMPORTER really loads.  [default: transitive]
  --all N                         Show the N shortest chains instead of one.  [x>=1]
  -h, --help                      Show this message and exit.
""",
    },
}
"""The help of each command (without a name, of the program), by the width of the terminal."""

COMMANDS: dict[str, str] = {
    "check": "Check the imports of the project against...",
    "clean": "Remove the cache: what `check` keeps for...",
    "debt": "Tell how many allowances there are, whose...",
    "explain": "Tell what a code or a kind means, or all...",
    "ratchet": "Remove the allowances that are no longer...",
    "test": "Test the contracts with imports that they...",
    "why": "Show by which imports one module comes to...",
}
"""The commands that are offered, each in one line."""

OPTIONS: dict[str, dict[str, str]] = {
    "": {
        "--version": "Show the version and exit.",
        "-h --help": "Show this message and exit.",
    },
    "check": {
        "--contract": "Check this contract only (repeatable).",
        "--output-format": "How to report. Default: full; in GitHub Actions github, in GitLab CI gitlab.",
        "--output-file": "Write the report there instead of printing it.",
        "--base": "Compare the allowance file with this revision. Default: what CI or the configuration names, or HEAD.",
        "--strict-contracts": "Fail when a contract promises less than at the base.",
        "--show-allowed": "Report the violations that have an allowance too.",
        "--fix": "Rewrite the old names of moved modules first.",
        "--diff": "Print what --fix would change, and stop there.",
        "--no-cache": "Read everything anew, and keep nothing for the next run.",
        "--cache-dir": "Where to keep what was found. Default: LAYERGUARD_CACHE_DIR, or .layerguard_cache in the project.",
        "--exit-zero": "Exit with 0 even if there are violations.",
        "-h --help": "Show this message and exit.",
    },
    "clean": {
        "--cache-dir": "Where the cache is, if not in its usual place.",
        "-h --help": "Show this message and exit.",
    },
    "debt": {
        "--output-format": "How to tell it.",
        "--last": "How many commits to show.",
        "-h --help": "Show this message and exit.",
    },
    "explain": {
        "-h --help": "Show this message and exit.",
    },
    "merge-driver": {
        "-h --help": "Show this message and exit.",
    },
    "ratchet": {
        "--check": "Write nothing; exit with 1 if something would be written.",
        "--adopt": "Write the first allowances of a contract that the base does not have.",
        "--base": "Compare the allowance file with this revision. Default: what CI or the configuration names, or HEAD.",
        "--resolve": "Mend a merge conflict in the allowance file.",
        "-h --help": "Show this message and exit.",
    },
    "test": {
        "--auto": "Derive imports that must break each contract, and plant them.",
        "--contract": "Test this contract only (repeatable).",
        "-h --help": "Show this message and exit.",
    },
    "why": {
        "--reach": "direct: single imports. transitive: chains. load: what importing IMPORTER really loads.",
        "--all": "Show the N shortest chains instead of one.",
        "-h --help": "Show this message and exit.",
    },
}
"""The options of each command with their help; one with several names has them in one text."""

REPEATABLE: dict[str, list[str]] = {
    "": [],
    "check": ["--contract"],
    "clean": [],
    "debt": [],
    "explain": [],
    "merge-driver": [],
    "ratchet": [],
    "test": ["--contract"],
    "why": [],
}
"""The options of each command that are offered again where they were given."""

VALUES: dict[str, dict[str, str]] = {
    "": {},
    "check": {
        "--contract": "nothing",
        "--output-format": "plain full concise json github gitlab sarif junit",
        "--output-file": "file",
        "--base": "nothing",
        "--cache-dir": "dir",
    },
    "clean": {
        "--cache-dir": "dir",
    },
    "debt": {
        "--output-format": "plain full json",
        "--last": "nothing",
    },
    "explain": {},
    "merge-driver": {},
    "ratchet": {
        "--adopt": "nothing",
        "--base": "nothing",
    },
    "test": {
        "--contract": "nothing",
    },
    "why": {
        "--reach": "plain direct transitive load",
        "--all": "nothing",
    },
}
"""What is offered as the value of each option that takes one: nothing, a file, a dir, or plain words."""

ARGUMENTS: dict[str, list[str]] = {
    "": ["nothing"],
    "check": ["nothing"],
    "clean": ["nothing"],
    "debt": ["nothing"],
    "explain": ["nothing", "nothing"],
    "merge-driver": ["file", "file", "file", "nothing"],
    "ratchet": ["nothing"],
    "test": ["nothing"],
    "why": ["nothing", "nothing", "nothing"],
}
"""The same of the arguments of each command; the last is for all that follow."""

SCRIPTS: dict[str, str] = {
    "fish": """\
function _layerguard_completion;
    set -l response (env _LAYERGUARD_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) layerguard);

    for completion in $response;
        set -l metadata (string split "," $completion);

        if test $metadata[1] = "dir";
            __fish_complete_directories $metadata[2];
        else if test $metadata[1] = "file";
            __fish_complete_path $metadata[2];
        else if test $metadata[1] = "plain";
            echo $metadata[2];
        end;
    end;
end;

complete --no-files --command layerguard --arguments "(_layerguard_completion)";
""",
    "zsh": """\
#compdef layerguard

_layerguard_completion() {
    local -a completions
    local -a completions_with_descriptions
    local -a response
    (( ! $+commands[layerguard] )) && return 1

    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) _LAYERGUARD_COMPLETE=zsh_complete layerguard)}")

    for type key descr in ${response}; do
        if [[ "$type" == "plain" ]]; then
            if [[ "$descr" == "_" ]]; then
                completions+=("$key")
            else
                completions_with_descriptions+=("$key":"$descr")
            fi
        elif [[ "$type" == "dir" ]]; then
            _path_files -/
        elif [[ "$type" == "file" ]]; then
            _path_files -f
        fi
    done

    if [ -n "$completions_with_descriptions" ]; then
        _describe -V unsorted completions_with_descriptions -U
    fi

    if [ -n "$completions" ]; then
        compadd -U -V unsorted -a completions
    fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    # autoload from fpath, call function directly
    _layerguard_completion "$@"
else
    # eval/source/. command, register function for later
    compdef _layerguard_completion layerguard
fi
""",
}
"""What each shell runs, so that it asks from then on."""
