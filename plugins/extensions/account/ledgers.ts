import { randomUUID } from 'node:crypto';
import type { LedgerEntry } from '#kernel';
import type { Bus, Presence } from '../../cluster/contract.ts';

/** One process on this database, as the account names it. */
export interface AccountProcess {
  /** Absent where it did not answer. */
  readonly id?: string;
  /** ISO 8601: since when it counts; of one that did not answer, since when it is connected to the database. */
  readonly since: string;
  readonly answered: boolean;
  /** The address of one that did not answer, as the database sees it; null on the same machine. */
  readonly address?: string | null;
  /** Entries that it could not send. */
  readonly left?: number;
}

/** What plugins and packages did in all live processes. */
export interface JointLedger {
  /** ISO 8601: the start of the process that counts the longest. */
  readonly since: string;
  readonly did: readonly LedgerEntry[];
  readonly processes: readonly AccountProcess[];
}

interface Deps {
  readonly bus: Bus;
  readonly presence: Presence;
  readonly did: () => readonly LedgerEntry[];
  readonly since: string;
  /** Milliseconds that other processes get to answer. */
  readonly deadline?: number;
}

interface Part {
  readonly to: string;
  readonly from: string;
  readonly since: string;
  readonly part: number;
  readonly parts: number;
  readonly left: number;
  readonly entries: readonly LedgerEntry[];
}

const ASK = 'extensions.account.ask';
const ANSWER = 'extensions.account.answer';
const LONGEST_WAIT = 2000;
/** Bytes of entries in one message of the bus, which takes 7 kB, and messages of one answer. */
const PART_BYTES = 6000;
const MOST_PARTS = 100;

/** Asks all live processes for their ledgers and sums them. Calls at the same time share one round. */
export function createJointLedger({
  bus,
  presence,
  did,
  since,
  deadline = LONGEST_WAIT,
}: Deps): () => Promise<JointLedger> {
  const rounds = new Map<string, (part: Part) => void>();
  bus.subscribe(ANSWER, (payload) => {
    const part = payload as Part;
    rounds.get(part.to)?.(part);
  });
  bus.subscribe(ASK, (payload) => {
    const { to, from } = payload as { to: string; from: string };
    if (from !== presence.id) void answer(to).catch(() => {});
  });

  async function answer(to: string): Promise<void> {
    const all = partsOf(did());
    const sent = all.slice(0, MOST_PARTS);
    const left = all.slice(MOST_PARTS).flat().length;
    const about = { to, from: presence.id, since, parts: sent.length, left };
    for (const [part, entries] of sent.entries()) await bus.publish(ANSWER, { ...about, part, entries });
  }

  async function round(): Promise<JointLedger> {
    const expected = (await presence.others([])).length;
    const answers = expected === 0 ? [] : await collect(expected);
    const silent = expected === 0 ? [] : await presence.others(answers.map(({ from }) => from));
    const own = { id: presence.id, since, answered: true };
    const processes: AccountProcess[] = [
      own,
      ...answers.map(({ from, since: start, left }) => ({
        id: from,
        since: start,
        answered: true,
        ...(left > 0 ? { left } : {}),
      })),
      ...silent.map(({ since: connected, address }) => ({ since: connected, answered: false, address })),
    ];
    return {
      since: [since, ...answers.map((one) => one.since)].sort()[0] as string,
      did: summed([did(), ...answers.map(({ entries }) => entries)]),
      processes,
    };
  }

  /** The whole answers that came in time. */
  async function collect(expected: number) {
    const to = randomUUID();
    const heard = new Map<string, Part[]>();
    const isWhole = (parts: readonly Part[]) => parts.length === parts[0]?.parts;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, deadline);
        rounds.set(to, (part) => {
          heard.set(part.from, [...(heard.get(part.from) ?? []), part]);
          if ([...heard.values()].filter(isWhole).length >= expected) resolve();
        });
        bus.publish(ASK, { to, from: presence.id }).catch(reject);
      });
    } finally {
      clearTimeout(timer);
      rounds.delete(to);
    }
    return [...heard.values()].filter(isWhole).map((parts) => {
      const { from, since: start, left } = parts[0] as Part;
      return { from, since: start, left, entries: parts.flatMap(({ entries }) => entries) };
    });
  }

  let running: Promise<JointLedger> | undefined;
  return () => {
    running ??= round().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Entries in messages: the last ones first, at least one message. */
function partsOf(entries: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  let bytes = 0;
  for (const { what, ...entry } of [...entries].sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1))) {
    const one = { ...entry, what: what.slice(0, 300) };
    const size = Buffer.byteLength(JSON.stringify(one)) + 1;
    if (bytes + size > PART_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(one);
    bytes += size;
  }
  return parts;
}

/** One entry for each thing that one plugin or package did, wherever. */
function summed(ledgers: readonly (readonly LedgerEntry[])[]): readonly LedgerEntry[] {
  const sums = new Map<string, LedgerEntry>();
  for (const entry of ledgers.flat()) {
    const what = entry.what.slice(0, 300);
    const key = JSON.stringify([entry.kind, entry.plugin, what]);
    const before = sums.get(key);
    const last = before && before.lastAt > entry.lastAt ? before : entry;
    sums.set(key, { ...last, what, count: (before?.count ?? 0) + entry.count });
  }
  return [...sums.values()];
}
