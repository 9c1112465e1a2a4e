import { definePlugin } from '#kernel';
import { reservedSegments } from '../http/contract.ts';
import { flowOperations, operations } from './contract.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const current = () => host.read(flowOperations);
    host.define(flowOperations);
    host.provide(operations, {
      find: (id) => current().find(id),
      owners: (id) => current().owners(id),
      ids: () => current().ids(),
    });
    for (const name of manifest['service:extension'].contributes['http.reserved'].names)
      host.contribute(reservedSegments, name);
  },
});
