import type { DoctorCheck } from '../doctor/contract.ts';
import { DEFAULT_TRANSPORT } from './config.ts';
import type { SelectedTransport } from './selected-transport.ts';
import type { VerifyTransport } from './verify.ts';

interface Deps {
  readonly name: string | undefined;
  readonly open: () => Promise<void>;
  readonly transport: Pick<SelectedTransport, 'isConfigured'>;
  readonly verify: VerifyTransport;
}

/** Whether mail can be sent. No message is sent. */
export const createMailDoctorCheck = ({ name, open, transport, verify }: Deps): DoctorCheck => ({
  name: 'mail',
  async run() {
    await open();
    if (!transport.isConfigured())
      return [
        {
          status: 'warn',
          text: `no mail is sent: EMAIL_TRANSPORT is unset, and this machine has no ${DEFAULT_TRANSPORT} program`,
          remedy: 'set EMAIL_TRANSPORT=smtp and the settings EMAIL_SMTP_*, where passwords are reset or users invited',
        },
      ];
    const { value, error } = await verify();
    const transportName = name ?? DEFAULT_TRANSPORT;
    if (!error) return [{ status: 'ok', text: `mail can be sent by ${transportName} (${value} ms)` }];
    const text = `mail cannot be sent by ${transportName}: ${error.message}`;
    return [{ status: 'fail', text, remedy: 'correct the settings EMAIL_*; mail:test <address> sends a message' }];
  },
});
