import { expect } from 'chai';
import type { DescribedRoute } from '../../plugins/http/contract.ts';
import { loadCoreRouteDescriptionValidator } from '../support/route-descriptions.ts';
import { type InProcessService, startService } from '../support/service.ts';

const environment = {
  TUS_ENABLED: 'true',
  AUTH_DIRECTORY_DRIVER: 'ldap',
  AUTH_DIRECTORY_CLIENT_URL: 'ldaps://127.0.0.1:1',
  AUTH_DIRECTORY_USER_DN: 'ou=people,dc=example,dc=com',
  AUTH_DIRECTORY_SCIM_TOKEN: 'a-token-of-at-least-32-characters',
};

/** The path of a route with a value in place of each parameter. */
const pathOf = ({ path }: DescribedRoute): string => path.replaceAll(/[:*]\w+/g, 'anything');

describe('access in the description of a route', () => {
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: environment });
  });
  after(() => service?.stop());

  const routesWith = async (access: readonly string[], method?: string): Promise<readonly DescribedRoute[]> =>
    (await loadCoreRouteDescriptionValidator(environment)).routes.filter(
      ({ description, ...route }) =>
        access.includes(description.access) && route.method !== '*' && (method ?? route.method) === route.method,
    );

  it('is "user", "app", "admin" or "own-token" only where requests without a token are refused', async () => {
    const routes = await routesWith(['user', 'app', 'admin', 'own-token']);
    const open: string[] = [];
    for (const route of routes) {
      const body = route.description.body ? {} : undefined;
      const { status } = await service.request(route.method, pathOf(route), { body });
      if (status !== 401 && status !== 403) open.push(`${route.method} ${route.path}: ${status}`);
    }
    expect(open).to.deep.equal([]);
    expect(routes).to.have.length.above(20);
  });

  it('is "public" only where a GET without a token is answered, or the description itself names FORBIDDEN', async () => {
    const refused: string[] = [];
    for (const route of await routesWith(['public'], 'GET')) {
      const { status } = await service.request('GET', pathOf(route));
      // Such a route serves everyone who knows an address that is not public, such as that of a share.
      if (status === 403 && route.description.errors?.includes('FORBIDDEN')) continue;
      if (status === 401 || status === 403) refused.push(`GET ${route.path}: ${status}`);
    }
    expect(refused).to.deep.equal([]);
  });
});
