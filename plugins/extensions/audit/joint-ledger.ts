import { randomUUID } from 'node:crypto';
import type { LedgerEntry } from '#kernel';
import type { InterProcessBus, ProcessPresence } from '../../cluster/contract.ts';

/** One process on this database, as the audit lists it. */
export interface AuditedServiceProcess {
  /** Absent for a process that did not reply. */
  readonly id?: string;
  /** ISO 8601: when its ledger began; for a process that did not reply, when it connected to the database. */
  readonly since: string;
  readonly answered: boolean;
  /** The address of a process that did not reply, as PostgreSQL reports it; null on the same machine. */
  readonly address?: string | null;
  /** Number of ledger entries that did not fit into the messages of the reply. */
  readonly left?: number;
}

/** What plugins and packages did in all live processes. */
export interface JointLedger {
  /** ISO 8601: the start of the oldest process that replied. */
  readonly since: string;
  readonly did: readonly LedgerEntry[];
  readonly processes: readonly AuditedServiceProcess[];
}

interface Deps {
  readonly bus: InterProcessBus;
  readonly presence: ProcessPresence;
  readonly did: () => readonly LedgerEntry[];
  readonly since: string;
  /** Milliseconds that other processes have to reply; default 2,000. */
  readonly deadline?: number;
}

interface LedgerMessage {
  readonly to: string;
  readonly from: string;
  readonly since: string;
  readonly part: number;
  readonly parts: number;
  readonly left: number;
  readonly entries: readonly LedgerEntry[];
}

const REQUEST_CHANNEL = 'extensions.account.ask';
const REPLY_CHANNEL = 'extensions.account.answer';
const REPLY_DEADLINE = 2000;
/** Bytes of entries in one bus message (the bus takes 7 kB), and the number of messages in one reply. */
const MESSAGE_BYTES = 6000;
const MAX_MESSAGES = 100;

/** Requests the ledgers of all live processes and sums them. Concurrent calls share one request. */
export function createJointLedger({
  bus,
  presence,
  did,
  since,
  deadline = REPLY_DEADLINE,
}: Deps): () => Promise<JointLedger> {
  const rounds = new Map<string, (part: LedgerMessage) => void>();
  bus.subscribe(REPLY_CHANNEL, (payload) => {
    const part = payload as LedgerMessage;
    rounds.get(part.to)?.(part);
  });
  bus.subscribe(REQUEST_CHANNEL, (payload) => {
    const { to, from } = payload as { to: string; from: string };
    if (from !== presence.id) void reply(to).catch(() => {});
  });

  async function reply(to: string): Promise<void> {
    const all = splitIntoMessages(did());
    const sent = all.slice(0, MAX_MESSAGES);
    const left = all.slice(MAX_MESSAGES).flat().length;
    const about = { to, from: presence.id, since, parts: sent.length, left };
    for (const [part, entries] of sent.entries()) await bus.publish(REPLY_CHANNEL, { ...about, part, entries });
  }

  async function collectLedgers(): Promise<JointLedger> {
    const expectedReplies = (await presence.findOthers([])).length;
    const answers = expectedReplies === 0 ? [] : await collectReplies(expectedReplies);
    const unanswered = expectedReplies === 0 ? [] : await presence.findOthers(answers.map(({ from }) => from));
    const own = { id: presence.id, since, answered: true };
    const processes: AuditedServiceProcess[] = [
      own,
      ...answers.map(({ from, since: start, left }) => ({
        id: from,
        since: start,
        answered: true,
        ...(left > 0 ? { left } : {}),
      })),
      ...unanswered.map(({ since: connected, address }) => ({ since: connected, answered: false, address })),
    ];
    return {
      since: [since, ...answers.map((one) => one.since)].sort()[0] as string,
      did: sumLedgers([did(), ...answers.map(({ entries }) => entries)]),
      processes,
    };
  }

  /** The replies that were complete before the deadline. */
  async function collectReplies(expectedReplies: number) {
    const to = randomUUID();
    const messagesByProcess = new Map<string, LedgerMessage[]>();
    const isComplete = (parts: readonly LedgerMessage[]) => parts.length === parts[0]?.parts;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(resolve, deadline);
        rounds.set(to, (part) => {
          messagesByProcess.set(part.from, [...(messagesByProcess.get(part.from) ?? []), part]);
          if ([...messagesByProcess.values()].filter(isComplete).length >= expectedReplies) resolve();
        });
        bus.publish(REQUEST_CHANNEL, { to, from: presence.id }).catch(reject);
      });
    } finally {
      clearTimeout(timer);
      rounds.delete(to);
    }
    return [...messagesByProcess.values()].filter(isComplete).map((parts) => {
      const { from, since: start, left } = parts[0] as LedgerMessage;
      return { from, since: start, left, entries: parts.flatMap(({ entries }) => entries) };
    });
  }

  let running: Promise<JointLedger> | undefined;
  return () => {
    running ??= collectLedgers().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Splits entries into messages, the latest entries first; at least one message. */
function splitIntoMessages(entries: readonly LedgerEntry[]): readonly (readonly LedgerEntry[])[] {
  const parts: LedgerEntry[][] = [[]];
  let bytes = 0;
  for (const { what, ...entry } of [...entries].sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1))) {
    const one = { ...entry, what: what.slice(0, 300) };
    const size = Buffer.byteLength(JSON.stringify(one)) + 1;
    if (bytes + size > MESSAGE_BYTES) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(one);
    bytes += size;
  }
  return parts;
}

/** One entry for each thing that a plugin or package did, summed over all processes. */
function sumLedgers(ledgers: readonly (readonly LedgerEntry[])[]): readonly LedgerEntry[] {
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
