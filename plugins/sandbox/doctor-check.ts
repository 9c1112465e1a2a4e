import type { DoctorCheck } from '../doctor/contract.ts';
import type { Sandbox } from './contract.ts';

/** What confines code of packages and of flows on this machine, by the self-test of a start. */
export const createSandboxDoctorCheck = (sandbox: Pick<Sandbox, 'runtime'>): DoctorCheck => ({
  name: 'sandbox',
  async run() {
    const { state, posture, reason } = await sandbox.runtime();
    const remedy =
      'install bubblewrap and allow user namespaces, as the guide for auditors says; it matters where confined packages or scripts of flows run';
    if (state === 'unavailable')
      return [{ status: 'warn', text: `confined code does not run: ${reason ?? 'no reason is known'}`, remedy }];
    const missing = posture?.missing ?? [];
    if (missing.length === 0) return [{ status: 'ok', text: 'all layers of confinement work' }];
    const text = `confined code runs without these layers: ${missing.join(', ')}`;
    return [{ status: 'warn', text, remedy }];
  },
});
