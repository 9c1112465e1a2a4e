import { definePlugin } from '#kernel';
import { broker, remotes } from './contract.ts';
import { GrantBroker } from './grant-broker.ts';
import manifest from './package.json' with { type: 'json' };
import { remoteLogMethods } from './remote-log.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { packages } = host;
    host.define(remotes);
    host.contribute(remotes, remoteLogMethods);
    const subjects = new GrantBroker({ packages, remotes: () => host.read(remotes) });
    packages.addAuditLines(() => subjects.auditLines());
    host.provide(broker, subjects);
  },
});
