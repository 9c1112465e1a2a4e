import { definePlugin } from '#kernel';
import { mailTransports } from '../mail/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { parseSmtpServer, type SmtpConfig } from './settings.ts';
import { createSmtpTransport } from './transport.ts';

export default definePlugin<SmtpConfig>({
  manifest,
  register({ config, contribute }) {
    contribute(mailTransports, {
      name: 'smtp',
      open: () => createSmtpTransport(parseSmtpServer(config), { pool: config.EMAIL_SMTP_POOL }),
    });
  },
});
