import { openHeaderDriver } from './driver.js';

const header = (name, about) => ({ type: 'string', default: name, about });

/**
 * The plugin imports nothing of the service: it contributes to a facet by its id. So the folder works at any
 * EXTENSIONS_PATH.
 */
export default {
  register(host) {
    host.contribute(
      { id: 'auth.providers' },
      {
        name: 'header',
        kind: 'redirect',
        keys: {
          SECRET: { type: 'string', secret: true, required: true, about: 'what the proxy proves itself with' },
          SECRET_HEADER: header('x-proxy-secret', 'the header with the secret'),
          USER_HEADER: header('x-forwarded-user', 'the header with the identifier of the user'),
          EMAIL_HEADER: header('x-forwarded-email', 'the header with the e-mail address'),
          EMAIL_IS_VERIFIED: {
            type: 'boolean',
            default: false,
            about: 'users cannot change their address at the proxy',
          },
          GROUPS_HEADER: header('x-forwarded-groups', 'the header with the groups, separated by commas'),
        },
        open: async (provider) => openHeaderDriver(provider),
      },
    );
  },
};
