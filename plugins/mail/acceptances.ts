import { setTimeout as pause } from 'node:timers/promises';
import type { Db, Migration } from '../database/contract.ts';
import { ACCEPTANCE_DAYS } from './limits.ts';

const TABLE = 'platform_mail_acceptances';

/** The migration that creates the table of recipients whose server has accepted a message. */
export function createAcceptancesMigration(db: Db): Migration {
  const table = db.own(TABLE);
  return {
    id: '2026-11-26-mail-acceptances',
    async up() {
      await db.ddl(db.sql`create table ${table} (message uuid not null, recipient text not null, response text not null,
        accepted_at timestamptz not null default now(), primary key (message, recipient))`);
      await db.ddl(db.sql`create index platform_mail_acceptances_time on ${table} (accepted_at)`);
    },
  };
}

/** Remembers which recipients a server has accepted a message for, so that a repeated job does not send it to them again. */
export interface MailAcceptances {
  /** The addresses that were accepted for this message. @throws SERVICE_UNAVAILABLE where the database is not reached. */
  find(message: string): Promise<ReadonlySet<string>>;
  /** Records addresses. @throws the error of the database after its last attempt; this process remembers them all the same. */
  add(message: string, recipients: readonly string[], response: string): Promise<void>;
}

/** Pauses between attempts to record an acceptance, in milliseconds: a restart of the database is no reason to send twice. */
const PAUSES = [100, 500, 2000, 5000, 10_000];
/** Messages whose acceptance could not be recorded, and that this process remembers. */
const MAX_UNRECORDED = 10_000;

export function createMailAcceptances(
  db: Pick<Db, 'query' | 'read' | 'write' | 'sql'>,
  pauses: readonly number[] = PAUSES,
): MailAcceptances {
  const FIND = db.sql`select recipient from ${db.read(TABLE)} where message = $1`;
  const ADD = db.sql`with expired as (delete from ${db.write(TABLE)} where accepted_at < now() - make_interval(days => $4))
    insert into ${db.write(TABLE)} (message, recipient, response) select $1, unnest($2::text[]), $3 on conflict do nothing`;
  const unrecorded = new Map<string, readonly string[]>();

  return {
    async find(message) {
      const { rows } = await db.query<{ recipient: string }>(FIND, [message], { name: 'mail_acceptances' });
      return new Set([...rows.map(({ recipient }) => recipient), ...(unrecorded.get(message) ?? [])]);
    },
    async add(message, recipients, response) {
      unrecorded.set(message, [...(unrecorded.get(message) ?? []), ...recipients]);
      for (let attempt = 0; ; attempt++) {
        try {
          await db.query(ADD, [message, [...recipients], response, ACCEPTANCE_DAYS], { name: 'mail_accepted' });
          unrecorded.delete(message);
          return;
        } catch (error) {
          const wait = pauses[attempt];
          if (wait === undefined) {
            if (unrecorded.size > MAX_UNRECORDED) unrecorded.delete(unrecorded.keys().next().value as string);
            throw error;
          }
          await pause(wait);
        }
      }
    },
  };
}
