import type { Log } from '#kernel';
import type { MailTransportDeclaration } from './contract.ts';

/** For development: writes the envelope and the subject of each message to the log, and sends nothing. */
export const createLogTransport = (log: Pick<Log, 'info'>): MailTransportDeclaration => ({
  name: 'log',
  open: () => ({
    async send({ from, recipients, subject, messageId }) {
      log.info({ from: from.address, to: recipients, subject, messageId }, 'a mail would be sent');
      return { response: 'written to the log', refused: [] };
    },
    async verify() {},
  }),
});
