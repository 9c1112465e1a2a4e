import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';

/** A view whose reads fail as those of a column that is dropped and added again: the schema looks the same afterwards. */
describe('reads while their table changes', () => {
  let service: InProcessService;
  const sql = (text: string) => service.database.query(text);
  const read = () => service.request('GET', '/items/seldom?limit=1', { token: service.admin.token });
  before(async () => {
    service = await startService();
    await sql(`create sequence attempts;
      create table failures (count int);
      insert into failures values (0);
      create function fail_first() returns int language plpgsql as $$
      begin
        -- What a sequence counts is not rolled back.
        if nextval('attempts') <= (select count from failures) then
          raise exception 'column t1.extra does not exist' using errcode = 'undefined_column';
        end if;
        return 1;
      end$$;
      create view seldom as select fail_first() as n`);
    const { body } = await read();
    expect(body.data).to.deep.equal([{ n: 1 }]);
  });
  after(() => service?.stop());

  for (const { count, status } of [
    { count: 1, status: 200 },
    // A function of the database that is at fault looks the same.
    { count: 2, status: 500 },
  ])
    it(`are answered ${status} after ${count} failures because of a column that was away`, async () => {
      await sql(`update failures set count = ${count}; alter sequence attempts restart`);
      expect((await read()).status).to.equal(status);
    });
});
