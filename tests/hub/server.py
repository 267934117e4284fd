"""A loopback Hub: the endpoints that huggingface_hub, datasets and evaluate use, on 127.0.0.1.

``break_put = n`` cuts the n-th upload of an object in the middle and refuses the later ones;
``break_commit`` closes the connection on a commit; ``status`` answers everything with that code.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_loopbackSECRETtoken0123456789"


@dataclass
class Repo:
    private: bool
    sdk: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    commits: int = 0

    @property
    def sha(self) -> str:
        return hashlib.sha1(str(self.commits).encode()).hexdigest()


class LoopbackHub:
    """The server and all that it holds."""

    def __init__(self) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.tokens: set[str] = set()
        self.puts = 0
        self.break_put = 0
        self.break_commit = False
        self.status = 0
        self.lock = threading.RLock()
        hub = self

        class Bound(Handler):
            pass

        Bound.hub = hub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def heal(self) -> None:
        self.break_put, self.break_commit, self.status = 0, False, 0

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        headers.setdefault("Content_Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, value: Any, code: int = 200, **headers: str) -> None:
        self.answer(code, json.dumps(value).encode(), Content_Type="application/json", **headers)

    def missing(self, kind: str) -> None:
        self.json({"error": f"{kind} not found"}, 404, X_Error_Code=kind + "NotFound")

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def cut(self) -> None:
        """Close the connection without an answer."""
        self.close_connection = True

    def handle_one_request(self) -> None:
        with suppress(ConnectionError):
            super().handle_one_request()

    def do_GET(self) -> None:
        self.serve()

    do_HEAD = do_POST = do_PUT = do_GET

    def serve(self) -> None:
        hub, url = self.hub, urlsplit(self.path)
        path = unquote(url.path)
        hub.requests.append((self.command, path))
        if token := self.headers.get("Authorization"):
            hub.tokens.add(token)
        if path.startswith("/lfs/"):
            return self.put_object(path.removeprefix("/lfs/"))
        body = self.body()
        if hub.status:
            return self.json({"error": f"refused to {token}"}, hub.status)
        if path == "/api/repos/create":
            if token != f"Bearer {TOKEN}":
                return self.json({"error": "Invalid username or password."}, 401)
            return self.create(json.loads(body))
        if path == "/api/validate-yaml":
            return self.json({"errors": [], "warnings": []})
        api = re.fullmatch(r"/api/(datasets|spaces)/([^/]+/[^/]+)(?:/([^/]+)(?:/([^/]+)(?:/(.*))?)?)?", path)
        lfs = re.fullmatch(r"/(datasets|spaces)/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path)
        file = re.fullmatch(r"/(datasets|spaces)/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        match = api or lfs or file
        if match is None:
            return self.missing("Entry")
        repo = hub.repos.get((match[1], match[2]))
        if repo is None or (repo.private and token != f"Bearer {TOKEN}"):
            return self.missing("Repo")
        if lfs:
            return self.batch(json.loads(body))
        if file:
            return self.resolve(repo, file[4])
        assert api is not None
        verb = api[3]
        if verb in (None, "revision"):
            return self.info(api[2], repo)
        if verb == "tree":
            recursive = "recursive=true" in url.query.lower() or "recursive=1" in url.query
            return self.tree(repo, api[5] or "", recursive)
        if verb == "paths-info":
            return self.paths_info(repo, body)
        if verb == "preupload":
            files = json.loads(body)["files"]
            modes = ["lfs" if f["path"].endswith((".parquet", ".bin")) else "regular" for f in files]
            listed = [
                {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}
                for file, mode in zip(files, modes, strict=True)
            ]
            return self.json({"files": listed})
        if verb == "commit":
            return self.commit(match[1], match[2], repo, body)
        return self.missing("Entry")

    def create(self, wanted: dict[str, Any]) -> None:
        kind = wanted.get("type", "model") + "s"
        name = f"{wanted['organization']}/{wanted['name']}"
        answer = {"url": f"{self.hub.url}/{kind}/{name}"}
        with self.hub.lock:
            if (kind, name) in self.hub.repos:
                return self.json(answer, 409)
            private = bool(wanted.get("private")) or wanted.get("visibility") == "private"
            self.hub.repos[kind, name] = Repo(private, wanted.get("sdk"))
        return self.json(answer)

    def info(self, name: str, repo: Repo) -> None:
        siblings = [{"rfilename": path} for path in sorted(repo.files)]
        made = "2026-01-01T00:00:00.000Z"
        self.json(
            {"_id": "1", "id": name, "author": name.split("/")[0], "sha": repo.sha, "private": repo.private,
             "gated": False, "disabled": False, "tags": [], "downloads": 0, "likes": 0, "sdk": repo.sdk,
             "lastModified": made, "createdAt": made, "siblings": siblings}
        )  # fmt: skip

    def entry(self, repo: Repo, path: str) -> dict[str, Any]:
        content = repo.files[path]
        entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content)}
        entry["oid"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        if path.endswith((".parquet", ".bin")):
            digest = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 134}
        return entry

    def folders(self, repo: Repo) -> set[str]:
        return {"/".join(p.split("/")[:n]) for p in repo.files for n in range(1, p.count("/") + 1)}

    def tree(self, repo: Repo, under: str, recursive: bool) -> None:
        start = f"{under.strip('/')}/" if under.strip("/") else ""
        found = [self.entry(repo, p) for p in sorted(repo.files) if p.startswith(start)]
        found += [{"type": "directory", "path": p, "oid": "0" * 40, "size": 0}
                  for p in sorted(self.folders(repo)) if p.startswith(start)]  # fmt: skip
        if start and not found:
            return self.missing("Entry")
        self.json([e for e in found if recursive or "/" not in e["path"][len(start) :]])

    def paths_info(self, repo: Repo, body: bytes) -> None:
        form = body.startswith(b"{")
        paths = json.loads(body)["paths"] if form else parse_qs(body.decode()).get("paths", [])
        known = self.folders(repo)
        folders = [{"type": "directory", "path": p, "oid": "0" * 40} for p in paths if p in known]
        self.json([self.entry(repo, p) for p in paths if p in repo.files] + folders)

    def batch(self, wanted: dict[str, Any]) -> None:
        objects = []
        for item in wanted["objects"]:
            known = item["oid"] in self.hub.objects
            upload = {} if known else {"actions": {"upload": {"href": f"{self.hub.url}/lfs/{item['oid']}"}}}
            objects.append({"oid": item["oid"], "size": item["size"], **upload})
        self.json({"transfer": "basic", "objects": objects})

    def put_object(self, oid: str) -> None:
        with self.hub.lock:
            self.hub.puts += 1
            number = self.hub.puts
        if self.hub.break_put and number == self.hub.break_put:
            self.rfile.read(int(self.headers["Content-Length"]) // 2)
            return self.cut()
        content = self.body()
        if self.hub.break_put and number > self.hub.break_put:
            return self.answer(403)
        if hashlib.sha256(content).hexdigest() != oid:
            return self.answer(400)
        self.hub.objects[oid] = content
        return self.answer(200)

    def commit(self, kind: str, name: str, repo: Repo, body: bytes) -> None:
        if self.hub.break_commit:
            return self.cut()
        with self.hub.lock:
            files = dict(repo.files)
            for line in map(json.loads, body.splitlines()):
                value = line["value"]
                if line["key"] == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "lfsFile":
                    files[value["path"]] = self.hub.objects[value["oid"]]
                elif line["key"] == "deletedFile":
                    del files[value["path"]]
            repo.files = files
            repo.commits += 1
        url = f"{self.hub.url}/{kind}/{name}/commit/{repo.sha}"
        return self.json({"success": True, "commitOid": repo.sha, "commitUrl": url, "hookOutput": ""})

    def resolve(self, repo: Repo, path: str) -> None:
        if path not in repo.files:
            return self.missing("Entry")
        content = repo.files[path]
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X_Repo_Commit": repo.sha,
                   "Accept_Ranges": "bytes", "Content_Type": "application/octet-stream"}  # fmt: skip
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked is None:
            return self.answer(200, content, **headers)
        first, last = int(asked[1]), min(int(asked[2] or len(content) - 1), len(content) - 1)
        headers["Content_Range"] = f"bytes {first}-{last}/{len(content)}"
        return self.answer(206, content[first : last + 1], **headers)
