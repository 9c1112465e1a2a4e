import type { GuestLimits } from '../protocol/messages.ts';
import type { ArtifactIsolate } from './isolate.ts';
import { createLoadedArtifactExecutor, serializeInvocation } from './loaded-artifact.ts';

const WARM_UP_ARTIFACT = `(function (module) {
  module.exports = { id: '', async handler(input, { host }) { return host.settings.get(input); } };
})`;
const WARM_UP_CONTEXT = {
  extensionId: '',
  contributionId: '',
  activation: { type: 'json-endpoint' },
  accountability: null,
} as const;

/**
 * Runs a small artifact from load to result, so that the code of the runner is compiled before the first invocation.
 */
export function warmUpRunner(isolate: ArtifactIsolate, limits: GuestLimits): void {
  isolate.load(WARM_UP_ARTIFACT);
  const first = isolate.createRealm(true);
  first.fetch();
  const program = createLoadedArtifactExecutor({
    limits,
    reuse: true,
    first,
    createRealm: () => isolate.createRealm(false),
    send() {},
  });
  program.invoke(1, serializeInvocation('', WARM_UP_CONTEXT), '""');
  program.reply(1, 1, true, 'null');
  first.release();
}
