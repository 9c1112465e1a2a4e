import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '#kernel';
import { coalesceConcurrentCalls } from './coalesce-calls.ts';
import { BUS_CONFIRMATION_TIMEOUT, type InterProcessBus } from './contract.ts';
import { NOTIFY_CHANNEL, renderBusMessage } from './notify-sql.ts';
import { OTHER_LIVE_PROCESSES_SQL, type OwnClusterMember } from './presence.ts';
import type { ListenAndLockConnection } from './shared-connection.ts';

const ASK = 'cluster.confirm';
const ANSWER = 'cluster.confirmed';
/** Milliseconds between two queries for live processes, and between two attempts while the connection is lost. */
const POLL_INTERVAL = 200;

interface Deps {
  readonly shared: Pick<ListenAndLockConnection, 'current'>;
  readonly bus: Pick<InterProcessBus, 'subscribe'>;
  readonly self: OwnClusterMember;
  readonly log: Log;
}

interface ConfirmationRound {
  readonly name: string;
  /** Members that have not stopped and have to answer. */
  waiting: readonly string[];
  readonly answered: Set<string>;
  /** Ends the pause between two queries. */
  wake(): void;
}

const SEND = 'select pg_notify($1, $2)';
const LIVE = `select member from ${OTHER_LIVE_PROCESSES_SQL}`;
/** Lists the other live processes and, where there are any, sends them the request to confirm. */
const LIVE_AND_ASK = `select member, pg_notify($3, $4) from ${OTHER_LIVE_PROCESSES_SQL}`;

/**
 * PostgreSQL delivers messages in the order of the commits, one by one to each listener. A process that receives the question
 * has therefore handled every message before it, and answers so. All of this uses the connections that listen, so that a full
 * pool delays nothing.
 */
export function createWaitForBusConfirmation({ shared, bus, self, log }: Deps): InterProcessBus['waitForConfirmation'] {
  const rounds = new Map<string, ConfirmationRound>();

  bus.subscribe(ASK, (payload) => {
    const { round, from } = payload as { round: string; from: string };
    if (from === self.id) return;
    const text = renderBusMessage(ANSWER, { round, member: self.key() });
    // If the answer cannot be sent, the connection is lost, and this process has emptied its caches.
    (async () => shared.current().query(SEND, [NOTIFY_CHANNEL, text]))().catch(() => {});
  });
  bus.subscribe(ANSWER, (payload) => {
    const { round, member } = payload as { round: string; member: string };
    rounds.get(round)?.answered.add(member);
    rounds.get(round)?.wake();
  });

  async function queryMembers(text: string, params: readonly unknown[] = []): Promise<readonly string[]> {
    const { rows } = await shared.current().query(text, [...self.params, ...params]);
    return rows.map((row) => String((row as { member: unknown }).member));
  }

  /** True when all live members have answered; false at the deadline. A process that dies is not waited for. */
  async function finish(round: ConfirmationRound, deadline: number): Promise<boolean> {
    const question = renderBusMessage(ASK, { round: round.name, from: self.id });
    for (let isSent = false; performance.now() < deadline; ) {
      try {
        const previous = round.waiting;
        round.waiting = await (isSent ? queryMembers(LIVE) : queryMembers(LIVE_AND_ASK, [NOTIFY_CHANNEL, question]));
        // A process that started meanwhile has cached nothing from before.
        if (isSent) round.waiting = round.waiting.filter((one) => previous.includes(one));
        isSent = true;
      } catch {
        // The connection is lost, and may be back before the deadline.
      }
      const isComplete = () => isSent && round.waiting.every((one) => round.answered.has(one));
      const end = Math.min(deadline, performance.now() + POLL_INTERVAL);
      while (!isComplete() && performance.now() < end) await answerOrPause(round, end - performance.now());
      if (isComplete()) return true;
    }
    return false;
  }

  return coalesceConcurrentCalls(async () => {
    const round: ConfirmationRound = { name: randomUUID(), waiting: [], answered: new Set(), wake: () => {} };
    rounds.set(round.name, round);
    // A hanging statement must not delay the answer beyond the timeout.
    const expiry = new AbortController();
    const expired = pause(BUS_CONFIRMATION_TIMEOUT, false, { signal: expiry.signal }).catch(() => false);
    try {
      const isConfirmed = await Promise.race([finish(round, performance.now() + BUS_CONFIRMATION_TIMEOUT), expired]);
      if (!isConfirmed)
        log.warn(
          { bound: BUS_CONFIRMATION_TIMEOUT },
          'another process did not confirm a change in time: check whether a process of this database hangs',
        );
    } finally {
      expiry.abort();
      rounds.delete(round.name);
    }
  });
}

/** Resolves when an answer arrives, or after `time` milliseconds. */
const answerOrPause = (round: ConfirmationRound, time: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    round.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
