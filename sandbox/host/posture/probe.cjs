/**
 * The probe program. The launcher starts it in place of the runner under the same confinement. It attempts what a guest
 * that broke out of its isolate would attempt. It reads commands and writes results on descriptor 3, one line of JSON
 * each: `{ id, attempt, with }` and `{ id, value }` or `{ id, error: code }`. The self-test and the tests of the
 * confinement evaluate these results and what they observe from outside.
 */
const fs = require('node:fs');
const net = require('node:net');

const channel = new net.Socket({ fd: 3, readable: true, writable: true });
const say = (value) => channel.write(`${JSON.stringify(value)}\n`);

const attempts = {
  pid: () => process.pid,
  identity: () => ({
    uid: process.getuid(),
    euid: process.geteuid(),
    gid: process.getgid(),
    groups: process.getgroups(),
  }),
  environment: () => ({ ...process.env }),
  read: ({ path }) => fs.readFileSync(path, 'latin1').slice(0, 100_000),
  list: ({ path }) => fs.readdirSync(path),
  write: ({ path }) => fs.writeFileSync(path, 'x'.repeat(10)),
  remove: ({ path }) => fs.unlinkSync(path),
  /** Open files, folders, pipes and sockets, without devices and anonymous descriptors. */
  descriptors: () =>
    Array.from({ length: 2048 }, (_, fd) => fd).flatMap((fd) => {
      try {
        const stat = fs.fstatSync(fd);
        const isNamed = stat.isFile() || stat.isDirectory() || stat.isFIFO() || stat.isSocket();
        return isNamed ? [{ fd, file: `${stat.dev}:${stat.ino}` }] : [];
      } catch {
        return [];
      }
    }),
  /** The number of files that can be open at a time, up to `count`. */
  open({ path, count }) {
    const opened = [];
    try {
      while (opened.length < count) opened.push(fs.openSync(path, 'r'));
      return opened.length;
    } catch (error) {
      if (error.code !== 'EMFILE') throw error;
      return opened.length;
    } finally {
      for (const fd of opened) fs.closeSync(fd);
    }
  },
  run({ path, args = [] }) {
    const { error, status } = require('node:child_process').spawnSync(path, args, { timeout: 5_000 });
    if (error) throw error;
    return status;
  },
  connect: (target) =>
    new Promise((resolve, reject) => {
      const socket = net.connect({ timeout: 1_000, ...target });
      const end = (settle, value) => {
        socket.destroy();
        settle(value);
      };
      socket.once('connect', () => end(resolve, true));
      socket.once('timeout', () => end(reject, coded('ETIMEDOUT')));
      socket.once('error', (error) => end(reject, error));
    }),
  listen: (target) =>
    new Promise((resolve, reject) => {
      const server = net.createServer();
      server.once('error', reject);
      server.listen(target, () => server.close(() => resolve(true)));
    }),
  /** Success means sent. The listener checks whether the datagram arrived. */
  datagram: ({ port, host }) =>
    new Promise((resolve, reject) => {
      const socket = require('node:dgram').createSocket('udp4');
      socket.once('error', reject);
      socket.send('x', port, host, (error) => {
        socket.close();
        if (error) reject(error);
        else resolve(true);
      });
    }),
  signal: ({ pid, signal }) => process.kill(pid, signal),
  setuid: ({ uid }) => process.setuid(uid),
  /** The number of threads, up to `count`, that could be started. */
  async threads({ count }) {
    const { Worker } = require('node:worker_threads');
    const code = 'setInterval(() => {}, 1e6)';
    const start = () =>
      new Promise((resolve) => {
        try {
          const worker = new Worker(code, { eval: true, stdout: true, stderr: true });
          worker.once('online', () => resolve(worker));
          worker.once('error', () => resolve(null));
        } catch {
          resolve(null);
        }
      });
    const started = await Promise.all(Array.from({ length: count }, start));
    const alive = started.filter((worker) => worker !== null);
    await Promise.all(alive.map((worker) => worker.terminate()));
    return alive.length;
  },
  /** Reserves address space without using the memory. */
  reserve({ bytes }) {
    try {
      return new ArrayBuffer(bytes).byteLength;
    } catch {
      throw coded('ENOMEM');
    }
  },
  /** Allocates memory until an allocation fails or the process is killed. Returns the allocated bytes. */
  async hoard({ bytes }) {
    const held = [];
    const step = 8 * 1024 * 1024;
    while (held.length * step < bytes) {
      try {
        held.push(Buffer.alloc(step, 1));
      } catch {
        break;
      }
      await new Promise(setImmediate);
    }
    return held.length * step;
  },
  /**
   * Uses a core for `ms` milliseconds, or until it has used `cpu` milliseconds of CPU time. Returns the share of the
   * core.
   */
  spin({ ms, cpu = Infinity }) {
    const start = Date.now();
    const used = process.cpuUsage();
    while (Date.now() - start < ms && process.cpuUsage(used).user < cpu * 1000);
    return process.cpuUsage(used).user / 1000 / (Date.now() - start);
  },
  /** Runs a script in an isolate. */
  async isolate({ path, memory, keep = false }) {
    const ivm = nativeAt(path);
    const isolate = new ivm.Isolate({ memoryLimit: memory });
    const context = await isolate.createContext();
    const script = await isolate.compileScript('(async () => JSON.stringify([6].map((x) => x * 7)))()');
    const value = await script.run(context, { promise: true, timeout: 5_000 });
    if (keep) kept.push(isolate);
    else isolate.dispose();
    return value;
  },
  /** Loads a native addon. */
  native: ({ path }) => typeof nativeAt(path),
};

/** Isolates that stay alive, as that of a runner does. Each reserves half a gigabyte of address space. */
const kept = [];

function nativeAt(path) {
  const target = { exports: {} };
  process.dlopen(target, path);
  return target.exports.ivm ?? target.exports;
}

const coded = (code) => Object.assign(new Error(code), { code });

let rest = '';
channel.setEncoding('utf8');
channel.on('data', async (text) => {
  const lines = `${rest}${text}`.split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, attempt, with: parameters = {} } = JSON.parse(line);
    try {
      say({ id, value: (await attempts[attempt](parameters)) ?? null });
    } catch (error) {
      say({ id, error: String(error.code ?? error.message) });
    }
  }
});
channel.on('end', () => process.exit(0));
channel.on('error', () => process.exit(0));
process.on('uncaughtException', () => {});
// Without a handler a write over the file size limit would end the process.
process.on('SIGXFSZ', () => {});
say({ id: 0, value: 'ready' });
