import { createSeededRandom } from '../../support/random.ts';
import { requestAsAdmin } from '../test-users.ts';
import { renderRowKey } from './keys.ts';
import { COLLECTION_NAMES, PERMISSION_TEST_MODEL, tableNameOfCollection } from './permission-test-collections.ts';
import { type PermissionTestService, startPermissionTestService, type TestPerson } from './permission-test-service.ts';
import { ReferenceReachability } from './reference-reachability.ts';
import type { CallerPermissions, PermissionTestModel, PermissionTestRow } from './reference-types.ts';

const SHARED_COLLECTIONS = ['team', 'person', 'task', 'tag', 'task_tag', 'block', 'users', 'presets'];

/**
 * The service of the permission tests with visitors of shares in place of its people: for each role several random items. Only stored
 * permissions count for visitors, so roles with app access are left out.
 */
export async function startShareTestService(seed: number): Promise<PermissionTestService> {
  const world = await startPermissionTestService(seed);
  try {
    const roles = world.people.filter(({ callerPermissions: { admin, user, role }, about }) => {
      return !admin && user !== null && role !== null && !about.includes('app access');
    });
    const random = createSeededRandom(seed);
    const visitors: TestPerson[] = [];
    for (const [at, person] of roles.entries()) {
      // The first role may read everything, so that reachability alone decides; every fifth may read all fields of random rows.
      for (
        let count = 0;
        count < (at === 0 ? 20 : Number(person.about.slice('role '.length)) % 5 === 2 ? 4 : 1);
        count++
      ) {
        const collection = random.one(SHARED_COLLECTIONS);
        const row = random.one(world.rows[collection] as PermissionTestRow[]);
        visitors.push(await createVisitorOfRole(world, person, collection, row));
      }
    }
    return { ...world, people: visitors };
  } catch (error) {
    await world.stop();
    throw error;
  }
}

async function createVisitorOfRole(
  { service, rows }: PermissionTestService,
  { about, stored, callerPermissions }: TestPerson,
  collection: string,
  row: PermissionTestRow,
): Promise<TestPerson> {
  const item = String(renderRowKey(PERMISSION_TEST_MODEL[collection] as PermissionTestModel[string], row));
  const body = { collection: tableNameOfCollection(collection), item, role: callerPermissions.role };
  const { id } = await requestAsAdmin(service, 'POST', '/shares', body);
  const { body: answer } = await service.request('POST', '/shares/auth', { body: { share: id } });
  const role: CallerPermissions = { ...callerPermissions, admin: false, user: null };
  const reachable = ReferenceReachability.ofItem(PERMISSION_TEST_MODEL, rows, role, collection, item);
  const permissions = new Map(
    COLLECTION_NAMES.filter((name) => reachable.collections.has(name)).map((name) => [
      `${name} read`,
      role.permissions.get(`${name} read`) ?? [],
    ]),
  );
  return {
    token: answer.data.access_token,
    about: `a visitor of ${collection} ${item}, ${about}, ${reachable.size} rows`,
    stored,
    callerPermissions: { ...role, permissions, isReachable: reachable.isReachable },
  };
}
