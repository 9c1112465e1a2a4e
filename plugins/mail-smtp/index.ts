import { BootFailure, definePlugin } from '#kernel';
import { mailTransports } from '../mail/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseSmtpServer, type SmtpConfig } from './settings.ts';
import { createSmtpTransport } from './transport.ts';

export default definePlugin<SmtpConfig>({
  manifest,
  register({ config, contribute }) {
    const { EMAIL_SMTP_HOST: host, EMAIL_SMTP_POOL: pool } = config;
    // Settings that contradict each other stop the start also where another transport is used.
    const server = host === undefined ? undefined : parseSmtpServer(host, config);
    contribute(mailTransports, {
      name: 'smtp',
      open() {
        if (server) return createSmtpTransport(server, { pool });
        const remedy = 'set EMAIL_SMTP_HOST';
        throw new BootFailure('@tenon/mail-smtp', 'config', 'EMAIL_TRANSPORT is smtp, and EMAIL_SMTP_HOST is unset', {
          remedy,
        });
      },
    });
  },
});
