import type { LauncherOptions } from '../child.ts';
import type { Plan } from '../launch/plan.ts';
import { type Bait, layBait } from './bait.ts';
import { CHECKS, type Findings } from './checks.ts';
import { type Means, nameOf, plansFor } from './plans.ts';
import { LAYERS, type Layer, LEAST, type Posture, REQUIRED } from './posture.ts';
import { type Programs, selfTest } from './self-test.ts';

export interface Resolved {
  /** How children are started; null where not even the hostile program starts. */
  readonly plan: Plan | null;
  readonly posture: Posture;
}

/** Finds the composition with the most protection that works here and claims of it what was proved. */
export async function resolvePosture(
  means: Means,
  programs: Programs,
  { mode, log }: Pick<LauncherOptions, 'mode' | 'log'>,
): Promise<Resolved> {
  const failures: Record<string, string> = {};
  const bait = await layBait();
  try {
    for (const plan of plansFor(means)) {
      const tested = await selfTest(means, plan, programs, bait as Bait);
      if ('findings' in tested) return told(tested.plan, tested.findings, mode, failures, log);
      failures[nameOf(plan)] = tested.complaint;
    }
  } finally {
    await bait.close();
  }
  return told(null, null, mode, failures, log);
}

function told(
  plan: Plan | null,
  findings: Findings | null,
  mode: Posture['mode'],
  failures: Readonly<Record<string, string>>,
  log: LauncherOptions['log'],
): Resolved {
  const broken = brokenChecks(findings);
  const missing = LAYERS.filter((layer) => broken[layer] !== undefined);
  const demanded = mode === 'required' ? REQUIRED : LEAST;
  const posture: Posture = {
    mode,
    decision: demanded.some((layer) => missing.includes(layer)) ? 'refuse' : 'run',
    applied: LAYERS.filter((layer) => !missing.includes(layer)),
    missing,
    cgroupMechanic: (findings?.hoardEnd?.memory && plan?.cgroups?.mechanic) || null,
  };
  log.info({ posture, composition: plan && nameOf(plan) }, 'confinement of packages of others');
  if (missing.length > 0) {
    const text = posture.decision === 'run' ? 'with fewer layers than there are' : 'not possible here';
    log.warn({ missing: broken, failures }, `packages of others: confinement ${text}`);
  }
  return { plan, posture };
}

/** By layer, the checks that did not hold; without findings the layer alone. */
function brokenChecks(findings: Findings | null): Readonly<Partial<Record<Layer, readonly string[]>>> {
  const entries = LAYERS.map((layer) => {
    const checks = findings === null ? [['not tried', false] as const] : CHECKS[layer](findings);
    return [layer, checks.filter(([, holds]) => !holds).map(([name]) => name)] as const;
  });
  return Object.fromEntries(entries.filter(([, names]) => names.length > 0));
}
