import { definePlugin } from '#kernel';
import { graphqlFields, graphqlFieldsService, nameOf } from './contract.ts';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    const { log } = host;
    host.define(graphqlFields);
    host.provide(graphqlFieldsService, { all: () => host.read(graphqlFields).kept });
    host.onStart(() => {
      for (const { owner, value } of host.read(graphqlFields).refused) {
        const field = nameOf(value.definition);
        log.warn(
          { extension: owner, field },
          `${owner}: the GraphQL field ${field} is left out, since there is one already`,
        );
      }
    });
  },
});
