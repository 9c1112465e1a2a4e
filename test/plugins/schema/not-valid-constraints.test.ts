import { expect } from 'chai';
import { freshDatabase } from '../../support/database.ts';
import { startSchemaFixture } from './schema-fixture.ts';

describe('relations of constraints that are not valid', () => {
  it('a relation is marked until PostgreSQL has validated its constraint', async () => {
    const database = await freshDatabase('notValidated');
    try {
      await database.query(`create table author (id int primary key); create table book (id int primary key, author int);
        insert into author values (1); insert into book values (1, 99);
        alter table book add constraint of_author foreign key (author) references author not valid`);
      const probe = await startSchemaFixture(database);
      try {
        const relation = async () => {
          await probe.schema.refresh();
          const { relation: end } = await probe.field('book', 'author');
          return end?.relation;
        };
        const before = await relation();
        expect([before?.related, before?.notValidated]).to.deep.equal(['author', true]);
        await database.query('delete from book; alter table book validate constraint of_author');
        const after = await relation();
        expect([after?.related, after?.notValidated]).to.deep.equal(['author', undefined]);
      } finally {
        await probe.stop();
      }
    } finally {
      await database.drop();
    }
  });
});
