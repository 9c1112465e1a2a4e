import { type Duplex, duplexPair } from 'node:stream';
import type { ChildProcessExit, ConfinedChild, ConfinedChildLauncher } from '../../../sandbox/host/confined-child.ts';
import { encodeFrame, FrameReader } from '../../../sandbox/protocol/frames.ts';
import type { ChildMessage, GuestLimits, HostMessage } from '../../../sandbox/protocol/messages.ts';

/** How a fake child reacts to each message. Scripts are names of behaviours: loading one selects it. */
export type FakeChildBehaviour = (child: FakeChild, message: HostMessage, body: string) => void;

/** Limits with a long deadline (`wall`), which only a child that never answers reaches. */
export const FAKE_CHILD_LIMITS: GuestLimits = {
  memory: 64 << 20,
  cpu: 200,
  wall: 30_000,
  result: 1 << 20,
  hostCall: 1 << 18,
};

let pids = 1000;

/** A fake child in this process that speaks the protocol and behaves as a test defines. */
export class FakeChild implements ConfinedChild {
  readonly pid = ++pids;
  readonly channel: Duplex;
  readonly ended: Promise<ChildProcessExit>;
  readonly childEnd: Duplex;
  readonly received: HostMessage[] = [];
  behaviour: FakeChildBehaviour | undefined;
  isAlive = true;
  bytes = 40 << 20;
  /** Milliseconds of CPU time; undefined as on a system that does not report it. */
  cpu: number | undefined;
  #end: (end: ChildProcessExit) => void;

  constructor(programs: ReadonlyMap<string, FakeChildBehaviour>) {
    [this.channel, this.childEnd] = duplexPair();
    const { promise, resolve } = Promise.withResolvers<ChildProcessExit>();
    this.ended = promise;
    this.#end = resolve;
    const reader = new FrameReader({ body: 64 << 20 }, (header, body) => {
      const message = header as unknown as HostMessage;
      this.received.push(message);
      const text = body.toString('utf8');
      if (message.type === 'load') this.behaviour = programs.get(text);
      this.behaviour?.(this, message, text);
    });
    this.childEnd.on('data', (chunk: Buffer) => this.isAlive && reader.push(chunk));
    this.childEnd.on('error', () => {});
  }

  send(message: ChildMessage | Record<string, unknown>, body: string | Buffer = ''): void {
    if (this.isAlive) for (const part of encodeFrame(message, body)) this.childEnd.write(part);
  }

  raw(bytes: Buffer): void {
    this.childEnd.write(bytes);
  }

  sendLoaded(): void {
    this.send({ type: 'loaded', contract: [{ key: '', id: 'x', handler: true, filters: [], actions: [] }] });
  }

  die(end: Partial<ChildProcessExit> = {}): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.childEnd.destroy();
    setImmediate(() => this.#end({ code: null, signal: 'SIGKILL', isOutOfMemory: false, ...end }));
  }

  kill(): void {
    this.die();
  }

  resident(): Promise<number> {
    return Promise.resolve(this.bytes);
  }

  cpuTime(): number | undefined {
    return this.cpu;
  }
}

export interface FakeLauncher extends ConfinedChildLauncher {
  readonly children: FakeChild[];
  readonly programs: Map<string, FakeChildBehaviour>;
  /** Called for each launched child. Default: sends hello. */
  onLaunch: (child: FakeChild) => void;
  living(): number;
}

const posture: ConfinedChildLauncher['posture'] = {
  mode: 'auto',
  decision: 'run',
  applied: [],
  missing: [],
  cgroupMechanic: null,
};

export function createFakeLauncher(programs: Readonly<Record<string, FakeChildBehaviour>> = {}): FakeLauncher {
  const children: FakeChild[] = [];
  const launcher: FakeLauncher = {
    posture,
    children,
    programs: new Map(Object.entries({ echo: echoBehaviour, ...programs })),
    onLaunch: (child) => setImmediate(() => child.send({ type: 'hello', protocol: 1 })),
    launch() {
      const child = new FakeChild(launcher.programs);
      children.push(child);
      launcher.onLaunch(child);
      return child;
    },
    living: () => children.filter(({ isAlive }) => isAlive).length,
    async close() {
      for (const child of children) child.kill();
    },
  };
  return launcher;
}

/** A behaviour that loads any script, answers invocations with their input, and answers pings. */
export const echoBehaviour: FakeChildBehaviour = (child, message, body) => {
  if (message.type === 'load') child.sendLoaded();
  else if (message.type === 'invoke') child.send({ type: 'result', id: message.id }, body);
  else if (message.type === 'ping') child.send({ type: 'pong', id: message.id });
};

/** A behaviour like `echo`, but with another reaction to invocations. */
export const behaviourOnInvoke =
  (invoked: (child: FakeChild, id: number, body: string) => void): FakeChildBehaviour =>
  (child, message, body) => {
    if (message.type === 'invoke') invoked(child, message.id, body);
    else echoBehaviour(child, message, body);
  };
