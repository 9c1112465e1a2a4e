import type { Db, GrantedSqlStatement } from '../database/contract.ts';

/** The channel that the bus listens to, and the text of a message there. */
export const NOTIFY_CHANNEL = 'platform_bus';
export const renderBusMessage = (channel: string, payload: unknown): string => JSON.stringify({ channel, payload });

/** The SQL by which a trigger publishes null on a channel of the bus, so that the database announces changes of every client. */
export const notifySql = (channel: string): string =>
  `perform pg_notify('${NOTIFY_CHANNEL}', '${renderBusMessage(channel, null)}')`;

/** The SQL of `notifySql` as a `Statement`, for triggers that a plugin creates by `host.db`. */
export const createNotifyStatement = (db: Pick<Db, 'literal' | 'sql'>, channel: string): GrantedSqlStatement =>
  db.sql`perform pg_notify(${db.literal(NOTIFY_CHANNEL)}, ${db.literal(renderBusMessage(channel, null))})`;
