import type { LauncherOptions } from '../confined-child.ts';
import type { LaunchPlan } from '../launch/launch-plan.ts';
import { type CanaryResources, createCanaryResources } from './canary.ts';
import { CONFINEMENT_LAYER_CHECKS, type ProbeFindings } from './checks.ts';
import { listLaunchPlans, type MachineCapabilities, renderLaunchPlanName } from './launch-plans.ts';
import {
  CONFINEMENT_LAYERS,
  type ConfinementLayer,
  MINIMUM_CONFINEMENT_LAYERS,
  type Posture,
  REQUIRED_MODE_LAYERS,
} from './posture.ts';
import { type SelfTestPrograms, selfTest } from './self-test.ts';

export interface ResolvedPosture {
  /** How children are started; null where not even the probe program starts. */
  readonly plan: LaunchPlan | null;
  readonly posture: Posture;
}

/**
 * Finds the launch plan with the most protection that works on this machine. The posture claims only the layers that
 * the self-test proved under this plan.
 */
export async function resolvePosture(
  machine: MachineCapabilities,
  programs: SelfTestPrograms,
  { mode, log }: Pick<LauncherOptions, 'mode' | 'log'>,
): Promise<ResolvedPosture> {
  const failures: Record<string, string> = {};
  const canary = await createCanaryResources();
  try {
    for (const plan of listLaunchPlans(machine)) {
      const result = await selfTest(machine, plan, programs, canary as CanaryResources);
      if ('findings' in result) return concludePosture(result.plan, result.findings, mode, failures, log);
      failures[renderLaunchPlanName(plan)] = result.error;
    }
  } finally {
    await canary.close();
  }
  return concludePosture(null, null, mode, failures, log);
}

function concludePosture(
  plan: LaunchPlan | null,
  findings: ProbeFindings | null,
  mode: Posture['mode'],
  failures: Readonly<Record<string, string>>,
  log: LauncherOptions['log'],
): ResolvedPosture {
  const failedChecks = listFailedChecks(findings);
  const missing = CONFINEMENT_LAYERS.filter((layer) => failedChecks[layer] !== undefined);
  const demandedLayers = mode === 'required' ? REQUIRED_MODE_LAYERS : MINIMUM_CONFINEMENT_LAYERS;
  const posture: Posture = {
    mode,
    decision: demandedLayers.some((layer) => missing.includes(layer)) ? 'refuse' : 'run',
    applied: CONFINEMENT_LAYERS.filter((layer) => !missing.includes(layer)),
    missing,
    cgroupMechanic: (findings?.hoardEnd?.isOutOfMemory && plan?.cgroups?.mechanic) || null,
  };
  log.info({ posture, composition: plan && renderLaunchPlanName(plan) }, 'confinement of third-party packages');
  if (missing.length > 0) {
    const text = posture.decision === 'run' ? 'some layers are missing' : 'not possible on this machine';
    log.warn({ missing: failedChecks, failures }, `confinement of third-party packages: ${text}`);
  }
  return { plan, posture };
}

/** Failed checks by layer. Without findings every layer has failed. */
function listFailedChecks(
  findings: ProbeFindings | null,
): Readonly<Partial<Record<ConfinementLayer, readonly string[]>>> {
  const entries = CONFINEMENT_LAYERS.map((layer) => {
    const checks = findings === null ? [['not tried', false] as const] : CONFINEMENT_LAYER_CHECKS[layer](findings);
    return [layer, checks.filter(([, holds]) => !holds).map(([name]) => name)] as const;
  });
  return Object.fromEntries(entries.filter(([, names]) => names.length > 0));
}
