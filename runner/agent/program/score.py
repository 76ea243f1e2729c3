"""score and score-log: speak to the runner over the score socket.

score [--json]       score the solution as it is now
score --remaining    say how much of the time limit is left
score-log [--json]   list the entries so far

Exit status: 0 done (score: the entry is valid), 1 the entry is not valid,
2 the runner refused (busy, time limit), 3 no answer, 64 wrong usage.
"""

import json
import os
import socket
import sys


def ask(op):
    path = os.environ.get("REBENCH_SOCKET", "/run/rebench/score.sock")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
            s.connect(path)
            s.sendall(json.dumps({"op": op}).encode() + b"\n")
            reply = b""
            while not reply.endswith(b"\n"):
                chunk = s.recv(65536)
                if not chunk:
                    break
                reply += chunk
        return json.loads(reply)
    except (OSError, ValueError) as e:
        print("score: no answer from the runner: %s" % e, file=sys.stderr)
        sys.exit(3)


def line(entry):
    text = "entry %d at %.1f s: " % (entry["number"], entry["t"])
    if entry["valid"]:
        text += "valid" if entry["score"] is None else "score %r" % entry["score"]
    else:
        text += "not valid (%s)" % entry.get("reason", "")
    if entry.get("message"):
        text += ": " + entry["message"]
    return text


def main():
    name = os.path.basename(sys.argv[0])
    args = sys.argv[1:]
    as_json = "--json" in args
    rest = [a for a in args if a != "--json"]
    if name == "score-log" and not rest:
        op = "log"
    elif name == "score" and not rest:
        op = "score"
    elif name == "score" and rest == ["--remaining"]:
        op = "remaining"
    else:
        print(__doc__, file=sys.stderr)
        return 64
    reply = ask(op)
    if as_json:
        print(json.dumps(reply))
    elif not reply["ok"]:
        print("score: refused (%s): %s" % (reply["error"], reply.get("message", "")), file=sys.stderr)
    elif op == "score":
        print(line(reply["entry"]))
    elif op == "log":
        if reply.get("omitted"):
            print("%d earlier entries are not shown" % reply["omitted"])
        for entry in reply.get("entries", []):
            print(line(entry))
    else:
        print("%d of %d seconds remain" % (reply["remaining_s"], reply["time_limit_s"]))
    if not reply["ok"]:
        return 2
    if op == "score" and not reply["entry"]["valid"]:
        return 1
    return 0


sys.exit(main())
