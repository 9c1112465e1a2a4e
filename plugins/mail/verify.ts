import type { EventsApi, Log } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';
import { DEFAULT_TRANSPORT } from './config.ts';
import type { MailTransport } from './contract.ts';
import { renderOneLine } from './library.ts';
import type { SelectedTransport } from './selected-transport.ts';

/** Milliseconds for which the health check repeats its last result, so that requests without a token cause few connections. */
const RESULT_AGE = 60_000;

interface VerifyResult {
  /** Milliseconds that the transport took. */
  readonly value: number;
  readonly error?: Error;
}

/** Checks that mail can be sent. Calls at the same time, and within a minute, share one result. */
export type VerifyTransport = () => Promise<VerifyResult>;

export function createTransportVerifier(transport: () => MailTransport, age = RESULT_AGE): VerifyTransport {
  let last: { readonly at: number; readonly result: Promise<VerifyResult> } | undefined;
  const verify = async (): Promise<VerifyResult> => {
    const since = performance.now();
    const elapsed = () => Math.round(performance.now() - since);
    try {
      await transport().verify();
      return { value: elapsed() };
    } catch (error) {
      return {
        value: elapsed(),
        error: new Error(renderOneLine(error instanceof Error ? error.message : String(error))),
      };
    }
  };
  return () => {
    if (!last || performance.now() - last.at > age) last = { at: performance.now(), result: verify() };
    return last.result;
  };
}

/** The check `email:connection` (conventions, "Health"). */
export const createMailHealthCheck = (verify: VerifyTransport): HealthCheck => ({
  name: 'email:connection',
  componentType: 'email',
  async check() {
    const { value, error } = await verify();
    if (error) throw error;
    return { value };
  },
});

interface SetupDeps {
  readonly name: string | undefined;
  readonly transport: Pick<SelectedTransport, 'isConfigured'>;
  readonly verify: VerifyTransport;
  readonly events: Pick<EventsApi, 'onAction'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

/** EMAIL_VERIFY_SETUP: once the server listens, checks the transport, and writes a failure to the log. */
export function verifySetupAfterStart({ name, transport, verify, events, log }: SetupDeps): void {
  events.onAction('server.start', async () => {
    if (!transport.isConfigured()) {
      log.info(`No mail is sent: EMAIL_TRANSPORT is unset, and this machine has no ${DEFAULT_TRANSPORT} program.`);
      return;
    }
    const { error } = await verify();
    if (error)
      log.warn(`Mail cannot be sent (${name ?? DEFAULT_TRANSPORT}): ${error.message}. Check the settings EMAIL_*.`);
  });
}
