import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFrame, FrameReader } from '../../../sandbox/protocol/frames.ts';
import type {
  ChildMessage,
  GuestLimits,
  HandlerContextData,
  HostMessage,
  InvocationTrigger,
} from '../../../sandbox/protocol/messages.ts';
import { parseChildMessage } from '../../../sandbox/protocol/parse-child-message.ts';
import { bundleChildRunnerSource } from '../../../sandbox/runner/build.ts';
import { findIsolatedVmAddonPath } from '../../../sandbox/runner/isolated-vm-addon.ts';
import { CHILD_NODE_FLAGS } from '../../../sandbox/runner/node-flags.ts';

/** A message of the runner process: the header, and the body as text. */
export type RunnerMessage = ChildMessage & { readonly body: string };

/** Limits that ordinary tests do not reach. Tests of limits use smaller ones. */
export const RUNNER_LIMITS: GuestLimits = {
  memory: 64 * 2 ** 20,
  cpu: 20_000,
  wall: 10_000,
  result: 10_000,
  hostCall: 5_000,
};
const ANSWER_TIMEOUT_MS = 60_000;

const running = new Set<UnconfinedRunnerProcess>();
let folder: string | undefined;
let file: Promise<string> | undefined;

async function runnerFile(): Promise<string> {
  const source = await bundleChildRunnerSource();
  folder = mkdtempSync(join(tmpdir(), 'runner-'));
  const path = join(folder, 'runner.cjs');
  writeFileSync(path, source);
  return path;
}

/** Kills the runners that the tests of a file have started. */
export function killStartedRunnerProcesses(): void {
  for (const runner of running) runner.process.kill('SIGKILL');
  running.clear();
  if (folder) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
  file = undefined;
}

/** Starts the runner as an ordinary process, without confinement, and has the host's side of its channel. */
export class UnconfinedRunnerProcess {
  readonly process: ChildProcess;
  readonly channel: Socket;
  readonly ended: Promise<number | null>;
  /** Received messages that no test has consumed yet. */
  readonly received: RunnerMessage[] = [];
  #hasExited = false;
  #prepared = false;
  readonly #waiting = new Set<() => void>();

  static async start(): Promise<UnconfinedRunnerProcess> {
    file ??= runnerFile();
    const runner = new UnconfinedRunnerProcess(await file);
    await runner.next('hello');
    return runner;
  }

  /** Starts a runner and loads a script, the body of `function (module, exports)`. */
  static async load(
    body: string,
    options: { limits?: Partial<GuestLimits>; reuse?: boolean } = {},
  ): Promise<UnconfinedRunnerProcess> {
    const runner = await UnconfinedRunnerProcess.start();
    runner.load(`(function (module, exports) { ${body} })`, options);
    const answer = await runner.next('loaded', 'refused');
    if (answer.type === 'refused') throw new Error(`refused: ${answer.code}`);
    return runner;
  }

  private constructor(path: string) {
    this.process = spawn(process.execPath, [...CHILD_NODE_FLAGS, path, findIsolatedVmAddonPath()], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    running.add(this);
    this.channel = this.process.stdio[3] as Socket;
    this.ended = once(this.process, 'exit').then(([code]) => {
      running.delete(this);
      this.#hasExited = true;
      this.#wake();
      return code as number | null;
    });
    const reader = new FrameReader({ body: 64 * 2 ** 20 }, (header, body) => {
      this.received.push({ ...parseChildMessage(header), body: body.toString('utf8') });
      this.#wake();
    });
    this.channel.on('data', (chunk: Buffer) => reader.push(chunk));
    this.channel.on('error', () => {});
  }

  send(message: HostMessage, body: Buffer | string = ''): void {
    for (const part of encodeFrame(message, body)) this.channel.write(part);
  }

  load(script: string, { limits, reuse }: { limits?: Partial<GuestLimits>; reuse?: boolean } = {}): void {
    if (!this.#prepared) this.send({ type: 'prepare', limits: { ...RUNNER_LIMITS, ...limits } });
    this.#prepared = true;
    this.send({ type: 'load', reuse: reuse ?? false }, script);
  }

  invoke(id: number, input: unknown = {}, activation: InvocationTrigger = { type: 'json-endpoint' }, entry = ''): void {
    const context: HandlerContextData = {
      extensionId: 'orders',
      contributionId: 'orders',
      activation,
      accountability: null,
    };
    this.send({ type: 'invoke', id, entry, context }, JSON.stringify(input));
  }

  reply(id: number, call: number, value: unknown): void {
    this.send({ type: 'reply', id, call, ok: true }, JSON.stringify(value));
  }

  /** Waits for the result of an invocation, or the code of its failure. Its host calls stay in `received`. */
  async outcome(id: number): Promise<unknown> {
    const end = await this.#find((message) => isEnd(message) && message.id === id);
    if (end.type === 'failure') return end.code;
    return end.type === 'result' && end.none ? 'none' : JSON.parse(end.body);
  }

  /** Starts an invocation and waits for its outcome. */
  run(id: number, input?: unknown, activation?: InvocationTrigger, entry?: string): Promise<unknown> {
    this.invoke(id, input, activation, entry);
    return this.outcome(id);
  }

  next<T extends ChildMessage['type']>(...types: T[]): Promise<RunnerMessage & { type: T }> {
    return this.#find((message) => (types as string[]).includes(message.type)) as Promise<RunnerMessage & { type: T }>;
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }

  async #find(fits: (message: RunnerMessage) => boolean): Promise<RunnerMessage> {
    const deadline = Date.now() + ANSWER_TIMEOUT_MS;
    while (Date.now() < deadline) {
      const index = this.received.findIndex(fits);
      if (index >= 0) return this.received.splice(index, 1)[0] as RunnerMessage;
      if (this.#hasExited) throw new Error('the runner has ended');
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, deadline - Date.now());
        this.#waiting.add(wake);
      });
    }
    throw new Error('the runner does not answer');
  }
}

const isEnd = (message: ChildMessage): message is ChildMessage & { type: 'result' | 'failure' } =>
  message.type === 'result' || message.type === 'failure';
