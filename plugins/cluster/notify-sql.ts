/** What the bus listens to, and the text of a message there. */
export const NOTIFY_CHANNEL = 'platform_bus';
export const messageText = (channel: string, payload: unknown): string => JSON.stringify({ channel, payload });

/** `publish(channel, null)` as a statement of a trigger, for what the database is to announce whoever changes it. */
export const notifySql = (channel: string): string =>
  `perform pg_notify('${NOTIFY_CHANNEL}', '${messageText(channel, null)}')`;
