import { type AccountCommand, type AccountCommandDeps, printResult, requireOption } from './account-command.ts';

/** `roles:create`: creates a role by the rules of `POST /roles`, and prints the id. */
export const createRolesCreateCommand = (deps: AccountCommandDeps): AccountCommand => ({
  name: 'roles:create',
  about: 'creates a role; --admin allows everything, --no-app leaves out what users of an admin app need',
  usage: '--name <text> [--key <key>] [--description <text>] [--admin] [--no-app] [--json]',
  options: {
    name: { type: 'string' },
    key: { type: 'string' },
    description: { type: 'string' },
    admin: { type: 'boolean' },
    'no-app': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  required: ['name'],
  exclusive: ['admin', 'no-app'],
  async run(values) {
    const { key, description, admin = false, 'no-app': withoutApp = false } = values;
    const name = requireOption(values, 'name');
    const payload = {
      name,
      admin_access: admin,
      app_access: !withoutApp,
      ...(key === undefined ? {} : { key }),
      ...(description === undefined ? {} : { description }),
    };
    const id = await deps.items.createOne(deps.system(), 'platform_roles', payload);
    printResult(values, { id, name, admin_access: admin, app_access: !withoutApp }, String(id));
  },
});
