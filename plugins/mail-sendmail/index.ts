import { definePlugin } from '#kernel';
import { mailTransports } from '../mail/contract.ts';
import manifest from './package.json' with { type: 'json' };
import { createSendmailTransport, isExecutable } from './transport.ts';

interface SendmailConfig {
  readonly EMAIL_SENDMAIL_PATH: string | undefined;
  readonly EMAIL_SENDMAIL_NEW_LINE: 'unix' | 'windows';
}

const USUAL_PATH = '/usr/sbin/sendmail';

export default definePlugin<SendmailConfig>({
  manifest,
  register({ config, contribute }) {
    const { EMAIL_SENDMAIL_PATH: path = USUAL_PATH, EMAIL_SENDMAIL_NEW_LINE: newline } = config;
    contribute(mailTransports, {
      name: 'sendmail',
      open: () => createSendmailTransport({ path, newline }),
      // Who names a path wants mail to leave by it.
      isPresent: async () => config.EMAIL_SENDMAIL_PATH !== undefined || isExecutable(path),
    });
  },
});
