import { BootFailure, Failure } from '#kernel';
import type { ProviderCall, ProviderFinding } from '../contract.ts';
import { COMMON_PROVIDER_KEYS } from '../provider-keys.ts';
import type { OpenProvider } from '../providers.ts';
import { reasonOf } from '../unavailable.ts';
import type { ProviderVariables } from '../variables.ts';
import { checkAddress } from './check-address.ts';
import { checkRoles } from './check-roles.ts';
import type { CheckStatements } from './check-statements.ts';
import { explainUser, type UserQuestion } from './explain-user.ts';
import { type ObservedFetch, observeFetch } from './observed-fetch.ts';
import { createRedaction } from './redaction.ts';

export type ReportFinding = (finding: ProviderFinding) => void;

export interface ProviderCheckDeps {
  /** @throws BootFailure */
  readonly openProvider: (variables: ProviderVariables) => Promise<OpenProvider>;
  readonly statements: CheckStatements;
}

/** Milliseconds that clocks may differ where the driver has no setting for it. */
const TOLERANCE = 30_000;

/** Checks one provider, from its settings to the account of a user, and reports what it finds while it goes on. */
export async function checkProvider(
  deps: ProviderCheckDeps,
  variables: ProviderVariables,
  question: UserQuestion | undefined,
  report: ReportFinding,
): Promise<void> {
  const provider = await openReported(deps, variables, report);
  if (!provider) return;
  const redact = await createRedaction(provider.settings, { ...provider.declaration.keys, ...COMMON_PROVIDER_KEYS });
  const reportRedacted: ReportFinding = (finding) => report(redact(finding));
  try {
    for (const finding of await checkRoles(deps.statements, provider)) reportRedacted(finding);
    for (const finding of await checkAddress(provider)) reportRedacted(finding);
    await checkByDriver(provider, reportRedacted);
    if (question) for await (const finding of explainUser(deps.statements, provider, question)) reportRedacted(finding);
  } catch (error) {
    reportRedacted({ check: 'check', status: 'fail', text: reasonOf(error), remedy: 'correct this first' });
  } finally {
    await provider.driver.close?.();
  }
}

async function openReported(
  { openProvider }: ProviderCheckDeps,
  variables: ProviderVariables,
  report: ReportFinding,
): Promise<OpenProvider | undefined> {
  try {
    const provider = await openProvider(variables);
    const { declaration } = provider;
    report({ check: 'settings', status: 'ok', text: `complete for the driver ${declaration.name}` });
    return provider;
  } catch (error) {
    if (!(error instanceof BootFailure)) throw error;
    const remedy = error.remedy ?? `correct the settings that begin with ${variables.prefix}`;
    report({ check: 'settings', status: 'fail', text: error.message, remedy });
    return undefined;
  }
}

/** What the driver finds, within the deadline of one step of a sign-in, and what is seen of its requests. */
async function checkByDriver({ settings, declaration, driver }: OpenProvider, report: ReportFinding): Promise<void> {
  if (!driver.check) {
    const remedy = `sign in by it once; its package may add the method check to the driver ${declaration.name}`;
    const text = `the driver ${declaration.name} has no checks of its own`;
    report({ check: 'provider', status: 'warn', text, remedy });
    return;
  }
  const timeout = settings.value<number>('TIMEOUT');
  let observed: ObservedFetch | undefined;
  try {
    await settings.boundedCall(async ({ signal, fetch }: ProviderCall) => {
      observed = observeFetch(fetch);
      for await (const finding of driver.check?.({ signal, fetch: observed.fetch }) ?? []) {
        // After the deadline the command does not wait for the rest.
        signal.throwIfAborted();
        report(finding);
      }
    });
  } catch (error) {
    report({ check: 'provider', status: 'fail', text: describeFailure(error), remedy: remedyOf(error, settings) });
  }
  const tolerance = 'CLOCK_TOLERANCE' in declaration.keys ? settings.value<number>('CLOCK_TOLERANCE') : TOLERANCE;
  for (const finding of observed?.findings({ tolerance, timeout }) ?? []) report(finding);
}

const describeFailure = (error: unknown): string =>
  error instanceof Failure ? `${error.code}: ${reasonOf(error)}` : reasonOf(error);

const remedyOf = (error: unknown, { variableOf }: OpenProvider['settings']): string =>
  error instanceof Failure && error.code === 'INVALID_CONFIG'
    ? 'correct the named setting'
    : `see whether the provider answers from this machine, and whether ${variableOf('TIMEOUT')} is long enough`;
