import { definePlugin } from '#kernel';
import { broker, remotes } from './contract.ts';
import manifest from './package.json' with { type: 'json' };
import { remoteLogs } from './remote-log.ts';
import { SubjectStore } from './subjects.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { packages } = host;
    host.define(remotes);
    host.contribute(remotes, remoteLogs);
    const subjects = new SubjectStore({ packages, remotes: () => host.read(remotes) });
    packages.report(() => subjects.lines());
    host.provide(broker, subjects);
  },
});
