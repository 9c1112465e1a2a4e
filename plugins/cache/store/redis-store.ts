import { randomUUID } from 'node:crypto';
import { type Log, VERSION } from '#kernel';
import { ANSWER_SCOPES, type AnswerKeys } from '../request/answer-key.ts';
import type { AnswerStore, AnswerToStore, CachedAnswer, FoundAnswer } from './answer-store.ts';
import { CHANGE_SCRIPT, CLEAR_SCRIPT, FIND_SCRIPT, PUT_SCRIPT } from './redis-scripts.ts';
import type { WriteBudget } from './write-budget.ts';

/** What the store needs of a client of Redis: one connection, whose commands run in the order in which they are sent. */
export interface RedisCommands {
  /** `ready` while commands are sent. */
  readonly status: string;
  callBuffer(command: string, ...args: (string | number | Buffer)[]): Promise<unknown>;
  on(event: 'ready' | 'close', handle: () => void): unknown;
  off(event: 'ready' | 'close', handle: () => void): unknown;
}

interface Options {
  readonly client: RedisCommands;
  readonly namespace: string;
  readonly budget: WriteBudget;
  readonly log: Log;
}

const NOTHING: FoundAnswer = { answer: undefined, position: undefined };
/** Milliseconds before a clear that failed is sent again. */
const RETRY_DELAY = 1000;

/**
 * Answers that all processes share. Each process tells Redis of every change that it is notified of, on the connection by which it
 * looks for answers: whatever it looks for later is compared with that change. Where a process cannot be sure that Redis knows of all
 * changes, after a start, a lost connection or a failed command, it clears the store before it uses it.
 */
export class RedisStore implements AnswerStore {
  readonly #client: RedisCommands;
  readonly #prefix: string;
  readonly #budget: WriteBudget;
  readonly #log: Log;
  /** Each clear that was asked for. The store is used while the last one has succeeded. */
  #clears = 0;
  #cleared = 0;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({ client, namespace, budget, log }: Options) {
    this.#client = client;
    // The braces keep all keys on one node of a cluster. Another version may answer in another form: during an upgrade both run.
    this.#prefix = `cache:{${namespace}}:${VERSION}:`;
    this.#budget = budget;
    this.#log = log;
    client.on('ready', this.#clearOnEvent);
    client.on('close', this.#clearOnEvent);
    this.clear();
  }

  /** Redis may have lost changes with its connection, or started again with older data. */
  readonly #clearOnEvent = (): void => this.clear();

  get #isUsable(): boolean {
    return this.#cleared === this.#clears && this.#client.status === 'ready';
  }

  async find(keys: AnswerKeys): Promise<FoundAnswer> {
    if (!this.#isUsable) return NOTHING;
    const since = this.#clears;
    try {
      const names = ANSWER_SCOPES.map((scope) => this.#keyOf(keys[scope]));
      const found = (await this.#run(FIND_SCRIPT, names)) as readonly Buffer[];
      const [epoch, clock, header, body] = found;
      if (since !== this.#clears) return NOTHING;
      if (!epoch) {
        // Redis has evicted the state.
        this.clear();
        return NOTHING;
      }
      return { position: `${epoch} ${clock}`, answer: header && body ? toAnswer(header, body) : undefined };
    } catch (error) {
      this.#logFailure(error);
      return NOTHING;
    }
  }

  async put({ key, answer, position, relations, client }: AnswerToStore): Promise<void> {
    if (!this.#isUsable || !this.#budget.take(answer.body.length, client.isSignedIn)) return;
    const { body, ...header } = answer;
    const [epoch = '', clock = ''] = String(position).split(' ');
    const values = [epoch, clock, relations.join(','), JSON.stringify(header), body];
    await this.#run(PUT_SCRIPT, [this.#keyOf(key)], [...values, Math.max(1, answer.expiresAt - Date.now())]);
  }

  change(relation: number): void {
    if (this.#client.status !== 'ready') {
      this.clear();
      return;
    }
    // Behind a clear that is on its way.
    this.#run(CHANGE_SCRIPT, [], [relation]).catch((error) => {
      this.#logFailure(error);
      this.clear();
    });
  }

  clear(): void {
    const mine = ++this.#clears;
    clearTimeout(this.#retry);
    // `ready` sends it again.
    if (this.#isStopped || this.#client.status !== 'ready') return;
    this.#run(CLEAR_SCRIPT, [], [randomUUID()]).then(
      () => {
        if (mine === this.#clears) this.#cleared = mine;
      },
      (error) => {
        this.#logFailure(error);
        if (mine === this.#clears && !this.#isStopped)
          this.#retry = setTimeout(() => this.clear(), RETRY_DELAY).unref();
      },
    );
  }

  async measure(): Promise<number> {
    const since = performance.now();
    await this.#client.callBuffer('PING');
    return performance.now() - since;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#client.off('ready', this.#clearOnEvent);
    this.#client.off('close', this.#clearOnEvent);
  }

  #keyOf(key: string): string {
    return `${this.#prefix}answer:${key}`;
  }

  #run(script: string, keys: readonly string[], values: readonly (string | number | Buffer)[] = []): Promise<unknown> {
    return this.#client.callBuffer('EVAL', script, keys.length + 1, `${this.#prefix}state`, ...keys, ...values);
  }

  /** The plugin `redis` logs that Redis is away. */
  #logFailure(error: unknown): void {
    this.#log.debug({ reason: (error as Error).message }, 'a command of the response cache failed');
  }
}

const toAnswer = (header: Buffer, body: Buffer): CachedAnswer => ({ ...JSON.parse(header.toString()), body });
