import type { ConfinedChildLauncherOptions } from '../confined-child.ts';
import type { ChildLaunchPlan } from '../launch/launch-plan.ts';
import { CONFINEMENT_LAYER_CHECKS, type ProbeFindings } from './checks.ts';
import { type ConfinementCanary, createConfinementCanary } from './confinement-canary.ts';
import {
  CONFINEMENT_LAYERS,
  CONFINEMENT_LAYERS_OF_REQUIRED_MODE,
  type ConfinementLayer,
  MINIMUM_CONFINEMENT_LAYERS,
  type Posture,
} from './confinement-layers.ts';
import { listLaunchPlans, type MachineCapabilities, renderLaunchPlanName } from './launch-plans.ts';
import { type SelfTestPrograms, selfTestLaunchPlan } from './self-test.ts';

export interface ProvenLaunchPlan {
  /** How children are started; null where not even the probe program starts. */
  readonly plan: ChildLaunchPlan | null;
  readonly posture: Posture;
}

/**
 * Finds the launch plan with the most protection that works on this machine. The posture claims only the layers that
 * the self-test proved under this plan.
 */
export async function findProvenLaunchPlan(
  machine: MachineCapabilities,
  programs: SelfTestPrograms,
  { mode, log }: Pick<ConfinedChildLauncherOptions, 'mode' | 'log'>,
): Promise<ProvenLaunchPlan> {
  const failures: Record<string, string> = {};
  const canary = await createConfinementCanary();
  try {
    for (const plan of listLaunchPlans(machine)) {
      const result = await selfTestLaunchPlan(machine, plan, programs, canary as ConfinementCanary);
      if ('findings' in result) return concludePosture(result.plan, result.findings, mode, failures, log);
      failures[renderLaunchPlanName(plan)] = result.error;
    }
  } finally {
    await canary.close();
  }
  return concludePosture(null, null, mode, failures, log);
}

function concludePosture(
  plan: ChildLaunchPlan | null,
  findings: ProbeFindings | null,
  mode: Posture['mode'],
  failures: Readonly<Record<string, string>>,
  log: ConfinedChildLauncherOptions['log'],
): ProvenLaunchPlan {
  const failedChecks = listFailedChecks(findings);
  const missing = CONFINEMENT_LAYERS.filter((layer) => failedChecks[layer] !== undefined);
  const demandedLayers = mode === 'required' ? CONFINEMENT_LAYERS_OF_REQUIRED_MODE : MINIMUM_CONFINEMENT_LAYERS;
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
