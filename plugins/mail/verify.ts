import type { EventsApi, Log } from '#kernel';
import type { HealthCheck } from '../server/contract.ts';
import { DEFAULT_TRANSPORT } from './config.ts';
import type { MailTransport } from './contract.ts';
import { renderOneLine } from './library.ts';
import type { SelectedTransport } from './selected-transport.ts';

/**
 * Milliseconds for which a successful sign-in is not repeated: clients without a token ask for the health, and servers lock users that
 * sign in all the time. That the server is reached is checked each time.
 */
const SIGN_IN_AGE = 60_000;

interface VerifyResult {
  /** Milliseconds that the transport took. */
  readonly value: number;
  readonly error?: Error;
}

/** Checks that mail can be sent. Calls at the same time share one check. */
export type VerifyTransport = () => Promise<VerifyResult>;

export function createTransportVerifier(transport: () => MailTransport, age = SIGN_IN_AGE): VerifyTransport {
  let verifiedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<VerifyResult> | undefined;

  async function check(): Promise<void> {
    const used = transport();
    if (performance.now() - verifiedAt < age) return used.reach?.();
    await used.verify();
    verifiedAt = performance.now();
  }

  async function measure(): Promise<VerifyResult> {
    const since = performance.now();
    const elapsed = () => Math.round(performance.now() - since);
    try {
      await check();
      return { value: elapsed() };
    } catch (error) {
      verifiedAt = Number.NEGATIVE_INFINITY;
      return {
        value: elapsed(),
        error: new Error(renderOneLine(error instanceof Error ? error.message : String(error))),
      };
    }
  }

  return () => {
    running ??= measure().finally(() => {
      running = undefined;
    });
    return running;
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
