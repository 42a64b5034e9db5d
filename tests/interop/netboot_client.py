#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Nodes that boot over a network interface (firmware, then iPXE) and the HTTP servers of boot servers. One
process is all of them: for each it goes on as a child in the network namespace of the process PID.

usage: netboot_client.py, with a line of standard input for each:
    serve PID 4|6 FOLDER LOG
        an HTTP server of the files in FOLDER, on port 80; what is asked for goes to LOG
    boot PID IFACE 4|6 ARCH OUT [mac=M] [client-id=HEX] [duid=HEX] [htype=N] [wait=S] [via=ROUTER]
        [relay=SERVER,OWN,NETWORK] [load=yes]
        a node; its exit status is printed as a line when it has ended

ARCH is the number of option 93 (DHCPv6: 61); 15, 16 and 19 are UEFI HTTP boot. As firmware the node
asks for an address and for what to load, fetches that over TFTP (or HTTP), asks again as
iPXE, and fetches the script. In OUT is what it is told, a line each:
    rom ADDRESS NEXT-SERVER FILE
    options router=R dns=D ntp=N
    rom-loaded FIRST LINE
    ipxe ADDRESS NEXT-SERVER FILE
    script LINE ...
With `via` that is the router, as an advertisement of IPv6 says it. With `relay` it is a relay
in the network of the server, with option 82: circuit and NETWORK of the node; it asks only.
With `load` it runs the script as iPXE does, and prints `loaded URL` for kernel and initial
file system.
Exit status 3 when nobody answers within `wait` seconds, 1 when something is wrong.
"""
import ctypes
import http.client
import http.server
import os
import re
import socket
import struct
import subprocess
import sys
import time
import traceback

COOKIE = b"\x63\x82\x53\x63"


def fail(text, status=1):
    print("FAILED: " + text)
    sys.exit(status)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip(*commands):
    subprocess.run(("ip", "-batch", "-"), input="\n".join(commands), text=True, check=True)


def enter(pid):
    """Go on in the network namespace of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/%s/ns/net" % pid, encoding="ascii") as file:
        if libc.setns(file.fileno(), 0x40000000): # CLONE_NEWNET
            sys.exit("setns: " + os.strerror(ctypes.get_errno()))


def link_local(mac):
    """The link-local address that the kernel makes of a MAC address."""
    return socket.inet_ntop(socket.AF_INET6, b"\xfe\x80" + bytes(6) + bytes([mac[0] ^ 2]) + mac[1:3] + b"\xff\xfe" + mac[3:])


class Node:
    def __init__(self, iface, arch, options):
        self.iface, self.arch = iface, arch
        self.mac = bytes.fromhex(options.get("mac", "02:00:00:00:99:01").replace(":", ""))
        self.htype = int(options.get("htype", "1"))
        self.client_id = bytes.fromhex(options.get("client-id", "").replace(":", ""))
        self.duid = bytes.fromhex(options.get("duid", "").replace(":", ""))
        self.wait = float(options.get("wait", "20"))
        self.via = options.get("via")
        self.relay = options.get("relay", "").split(",")
        self.loads = "load" in options
        self.begun = time.time()
        self.is_http = arch in (15, 16, 19)

    # DHCPv4, by frames: there is no address yet

    def packet4(self, kind, is_ipxe, extra):
        user = b"\x4d\x04iPXE" if is_ipxe else b""
        name = b"HTTPClient" if self.is_http and not is_ipxe else b"PXEClient"
        vendor = name + b":Arch:%05d:UNDI:003001" % self.arch
        chaddr, hlen = (b"", 0) if self.client_id else (self.mac, 6)
        options = bytes([53, 1, kind, 93, 2, 0, self.arch])
        options += bytes([60, len(vendor)]) + vendor + user + bytes([55, 8, 1, 3, 6, 42, 60, 66, 67, 54])
        if self.client_id:
            options += bytes([61, len(self.client_id)]) + self.client_id
        giaddr = b""
        if len(self.relay) == 3:
            giaddr = socket.inet_aton(self.relay[1])
            extra += bytes([82, 10, 1, 2, 0x65, 0x31, 5, 4]) + socket.inet_aton(self.relay[2])
        body = struct.pack("!BBBBIHH4s4s4s4s", 1, self.htype, hlen, 0, self.xid,
                           int(time.time() - self.begun), 0x8000, b"", b"", b"", giaddr)
        body += chaddr.ljust(16, b"\0") + bytes(192) + COOKIE + options + extra + b"\xff"
        body = body.ljust(300, b"\0")
        if giaddr:
            return body
        udp = struct.pack("!HHHH", 68, 67, 8 + len(body), 0) + body
        head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0,
                           b"\0\0\0\0", b"\xff\xff\xff\xff")
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        return b"\xff" * 6 + self.mac + b"\x08\x00" + head + udp

    def answer4(self, kind):
        """The next answer of this kind, until the time is over."""
        while True:
            self.raw.settimeout(max(0.01, self.again - time.time()))
            try:
                frame = self.raw.recv(2048)
            except socket.timeout:
                return None
            if len(self.relay) == 3: # as a frame
                frame = bytes(12) + b"\x08\0\x45" + bytes(8) + b"\x11" + bytes(12) + b"\0\x44" + bytes(4) + frame
            if len(frame) < 282 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
                continue
            ihl = (frame[14] & 15) * 4
            if struct.unpack("!H", frame[14 + ihl + 2:14 + ihl + 4])[0] != 68:
                continue
            body = frame[14 + ihl + 8:]
            if body[0] != 2 or struct.unpack("!I", body[4:8])[0] != self.xid:
                continue
            options, at = {}, 240
            while at < len(body) and body[at] != 255:
                if body[at] == 0:
                    at += 1
                    continue
                options[body[at]] = body[at + 2:at + 2 + body[at + 1]]
                at += 2 + body[at + 1]
            if options.get(53, b"\0")[0] == kind:
                return body, options

    def exchange4(self, kind, want, is_ipxe, extra):
        end = time.time() + self.wait
        while time.time() < end:
            self.raw.send(self.packet4(kind, is_ipxe, extra))
            self.again = min(end, time.time() + 1)
            answer = self.answer4(want)
            if answer:
                return answer
        return None

    def ask4(self, is_ipxe):
        if len(self.relay) == 3:
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.raw.bind((self.relay[1], 67))
            self.raw.connect((self.relay[0], 67))
        else:
            self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            self.raw.bind((self.iface, 0))
        self.xid = struct.unpack("!I", os.urandom(4))[0]
        self.begun = time.time()
        offer = self.exchange4(1, 2, is_ipxe, b"")
        if not offer:
            fail("no offer", 3)
        wanted = bytes([50, 4]) + offer[0][16:20] + bytes([54, 4]) + offer[1][54]
        ack = self.exchange4(3, 5, is_ipxe, wanted)
        if not ack:
            fail("no answer to a request")
        body, options = ack
        self.raw.close()
        if self.is_http and not is_ipxe and not options.get(60, b"").startswith(b"HTTPClient"):
            fail("the answer is not one of HTTP boot: %r" % options.get(60))
        if len(self.relay) == 3 and options.get(82, b"")[:4] != b"\1\2e1":
            fail("the answer has not the relay's option 82: %r" % options.get(82))
        name = options.get(67, body[108:236]).split(b"\0")[0].decode()
        self.prefix = bin(struct.unpack("!I", options[1])[0]).count("1")
        self.said = [",".join(socket.inet_ntoa(options[code][i:i + 4])
                              for i in range(0, len(options.get(code, b"")), 4)) or "-"
                     for code in (3, 6, 42)]
        self.via = None if self.said[0] == "-" else self.said[0]
        return socket.inet_ntoa(body[16:20]), socket.inet_ntoa(body[20:24]), name

    # DHCPv6, from the link-local address

    def packet6(self, kind, is_ipxe, extra):
        def option(code, data):
            return struct.pack("!HH", code, len(data)) + data

        text = b"HTTPClient" if self.is_http and not is_ipxe else b"PXEClient"
        text += b":Arch:%05d" % self.arch
        message = struct.pack("!I", kind << 24 | self.xid & 0xFFFFFF)
        message += option(1, self.duid) + option(8, b"\0\0") + option(6, b"\0\x3b\0\x3c\0\x10\0\x17\0\x1f\0\x38")
        message += option(61, struct.pack("!H", self.arch))
        message += option(16, struct.pack("!IH", 343, len(text)) + text)
        if is_ipxe:
            message += option(15, b"\0\4iPXE")
        return message + extra

    @staticmethod
    def options6(data):
        at, out = 0, {}
        while at + 4 <= len(data):
            code, n = struct.unpack("!HH", data[at:at + 4])
            out[code] = data[at + 4:at + 4 + n]
            at += 4 + n
        return out

    def exchange6(self, sock, kind, want, is_ipxe, extra):
        end = time.time() + self.wait
        while time.time() < end:
            try:
                sock.sendto(self.packet6(kind, is_ipxe, extra), ("ff02::1:2", 547, 0, self.index))
            except OSError: # the link-local address is not there yet
                time.sleep(0.2)
                continue
            sock.settimeout(1)
            try:
                data = sock.recv(2048)
            except socket.timeout:
                continue
            if data[0] != want or data[1:4] != struct.pack("!I", self.xid)[1:]:
                continue
            options = self.options6(data[4:])
            # an advertisement without an address counts as none (RFC 8415, 18.2.9)
            if 5 in self.options6(options.get(3, bytes(12))[12:]):
                return options
        return None

    def ask6(self, is_ipxe):
        self.index = socket.if_nametoindex(self.iface)
        self.xid = struct.unpack("!I", b"\0" + os.urandom(3))[0]
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, self.index)
        sock.bind(("::", 546))
        wish = struct.pack("!HHIII", 3, 12, 1, 0, 0)
        offer = self.exchange6(sock, 1, 2, is_ipxe, wish)
        if not offer:
            fail("no advertisement", 3)
        chosen = struct.pack("!HH", 2, len(offer[2])) + offer[2]
        chosen += struct.pack("!HH", 3, len(offer[3])) + offer[3]
        reply = self.exchange6(sock, 3, 7, is_ipxe, chosen)
        sock.close()
        if not reply:
            fail("no answer to a request")
        # as firmware does: behind enterprise and length
        if self.is_http and not is_ipxe and reply.get(16, b"")[6:16] != b"HTTPClient":
            fail("the answer is not one of HTTP boot: %r" % reply.get(16))
        address = self.options6(reply[3][12:])[5][:16]
        # NTP servers: as SNTP servers, or each an option in one
        ntp = reply.get(31, b"") or reply.get(56, bytes(4))[4:]
        self.prefix = 64
        self.said = ["-"] + [",".join(socket.inet_ntop(socket.AF_INET6, data[i:i + 16])
                                      for i in range(0, len(data), 16)) or "-"
                             for data in (reply.get(23, b""), ntp)]
        return socket.inet_ntop(socket.AF_INET6, address), "-", reply.get(59, b"").decode()

    def boot(self, family):
        ask = self.ask4 if family == 4 else self.ask6
        if len(self.relay) != 3:
            # the interface stays up: after an up, the bridge takes a second to send packets there
            todo = ["link set dev %s address %s" % (self.iface, self.mac.hex(":"))]
            if family == 6:
                todo += ["addr flush dev %s scope link" % self.iface,
                         "addr add %s/64 dev %s scope link nodad" % (link_local(self.mac), self.iface)]
            ip(*todo)
        for who in ("rom", "ipxe"):
            address, server, name = ask(who == "ipxe")
            print(who, address, server, name or "-", flush=True)
            if who == "rom":
                print("options router=%s dns=%s ntp=%s" % tuple(self.said))
            if len(self.relay) == 3:
                continue
            todo = ["addr flush dev %s scope global" % self.iface,
                    "addr add %s/%d dev %s%s" % (address, self.prefix, self.iface, " nodad" if family == 6 else "")]
            if self.via:
                todo.append("route replace default via " + self.via)
            ip(*todo)
            lines = self.fetch(server, name).decode().splitlines()
            if who == "rom":
                print("rom-loaded", lines[0])
            else:
                print("\n".join("script " + line for line in lines), flush=True)
                if self.loads:
                    self.run(lines, server)

    def run(self, lines, server):
        at = 0
        for _ in range(100):
            words, _, label = lines[at].replace("${next-server}", server).partition(" || goto ")
            words, at = words.split(), at + 1
            if words[0] == "boot":
                return
            if words[0] == "sleep":
                break
            if words[0] in ("kernel", "initrd"):
                url = words[1 if words[0] == "kernel" else -1]
                try:
                    self.fetch("", url)
                    print("loaded", url, flush=True)
                except OSError:
                    at = lines.index(":" + label)
        fail("no kernel is loaded")

    def fetch(self, server, name):
        if name.startswith("http://"):
            host, _, path = name[len("http://"):].partition("/")
            connection = http.client.HTTPConnection(host, timeout=self.wait)
            connection.request("GET", "/" + path)
            answer = connection.getresponse()
            if answer.status != 200:
                raise OSError("%s: status %d" % (name, answer.status))
            return answer.read()
        match = re.match(r"tftp://(\[[^]]*\]|[^/]*)/(.*)", name)
        if match:
            server, name = match.group(1).strip("[]"), match.group(2)
        return tftp(server, name, self.wait)


def tftp(server, name, wait):
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.settimeout(1)
    data, block, end = b"", 1, time.time() + wait
    to, message = (server, 69), b"\0\1" + name.encode() + b"\0octet\0"
    while time.time() < end:
        sock.sendto(message, to)
        try:
            answer, sender = sock.recvfrom(1024)
        except socket.timeout:
            continue
        code, number = struct.unpack("!HH", answer[:4])
        if code == 5:
            fail("tftp %s %s: %r" % (server, name, answer[4:]))
        if code != 3 or number != block:
            continue
        data += answer[4:]
        to, message, block = sender, b"\0\4" + answer[2:4], block + 1
        if len(answer) < 516:
            sock.sendto(message, to)
            return data
    fail("tftp %s %s: no answer" % (server, name))


def serve(family, folder, log):
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)

    class Server(http.server.ThreadingHTTPServer):
        address_family = socket.AF_INET6 if family == 6 else socket.AF_INET

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

    Server(("::" if family == 6 else "", 80), Files).serve_forever()


def boot(iface, family, arch, out, *words):
    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    options = dict(word.split("=", 1) for word in words)
    Node(iface, int(arch), options).boot(int(family))


def child(kind, pid, *words):
    try:
        enter(pid)
        if kind == "serve":
            serve(int(words[0]), *words[1:])
        else:
            boot(*words)
        status = 0
    except SystemExit as end:
        status = end.code
    except BaseException: # pylint: disable=broad-except
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)


def main():
    for line in sys.stdin:
        words = line.split()
        pid = os.fork()
        if not pid:
            child(*words)
        if words[0] == "boot":
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


main()
