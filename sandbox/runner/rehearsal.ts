import type { Limits } from '../protocol/messages.ts';
import type { Isolate } from './isolate.ts';
import { makeProgram, told } from './program.ts';

const ARTIFACT = `(function (module) {
  module.exports = { id: '', async handler(input, { host }) { return host.settings.get(input); } };
})`;
const CONTEXT = {
  extensionId: '',
  contributionId: '',
  activation: { type: 'json-endpoint' },
  accountability: null,
} as const;

/** Runs a program of our own from its load to its answer, so that our code is compiled before anybody waits for it. */
export function rehearse(isolate: Isolate, limits: Limits): void {
  isolate.load(ARTIFACT);
  const first = isolate.room(true);
  first.fetch();
  const program = makeProgram({ limits, reuse: true, first, makeRoom: () => isolate.room(false), send() {} });
  program.invoke(1, told('', CONTEXT), '""');
  program.reply(1, 1, true, 'null');
  first.leave();
}
