import { commands, definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { routes } from '../http/contract.ts';
import { schema } from '../schema/contract.ts';
import { createTypesCommand } from './command.ts';
import manifest from './package.json' with { type: 'json' };
import { typesRoute } from './route.ts';
import { createTypesOfCaller } from './types-of-caller.ts';

export default definePlugin({
  manifest,
  register(host) {
    const used = host.use({ access, schema });
    host.contribute(routes, typesRoute(createTypesOfCaller(used)));
    host.contribute(commands, createTypesCommand(used.schema.systemCollections));
  },
});
