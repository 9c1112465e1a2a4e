import { expect } from 'chai';
import { freshDatabase } from '../../support/database.ts';
import { startProbe } from './support.ts';

describe('relations of constraints that are not valid', () => {
  it('a relation is marked until PostgreSQL has validated its constraint', async () => {
    const database = await freshDatabase('unchecked');
    try {
      await database.query(`create table author (id int primary key); create table book (id int primary key, author int);
        insert into author values (1); insert into book values (1, 99);
        alter table book add constraint of_author foreign key (author) references author not valid`);
      const probe = await startProbe(database);
      try {
        const relation = async () => {
          await probe.schema.refresh();
          const { relation: end } = await probe.field('book', 'author');
          return end?.relation;
        };
        expect(await relation()).to.deep.include({ related: 'author', unchecked: true });
        await database.query('delete from book; alter table book validate constraint of_author');
        expect(await relation())
          .to.deep.include({ related: 'author' })
          .and.not.have.property('unchecked');
      } finally {
        await probe.stop();
      }
    } finally {
      await database.drop();
    }
  });
});
