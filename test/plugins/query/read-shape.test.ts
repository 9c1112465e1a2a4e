import { expect } from 'chai';
import type { RawQuery } from '../../../plugins/query/contract.ts';
import { compileCaseToSql } from './query-cases.ts';
import { buildSketchedSchema } from './schema-sketch.ts';

const schema = buildSketchedSchema({
  article: {
    id: 'integer key',
    title: 'string',
    date: 'timestamp',
    meta: 'json',
    author: 'one person',
    comments: 'many comment.article',
  },
  person: { id: 'integer key', name: 'string' },
  comment: { id: 'integer key', body: 'text', article: 'one article' },
});

const shape = (query: RawQuery) => compileCaseToSql({ collection: 'article', query }, schema).shape;

describe('PreparedStatement.shape, which the slow log names a read by', () => {
  it('the shape names fields, functions and relations but no alias', () => {
    expect(shape({ fields: 'id,year(date),writer.name,comments', alias: { writer: 'author' }, limit: -1 })).to.equal(
      'article[id,year(date),author[name],comments]',
    );
    expect(
      shape({ fields: 'id,comments.id', deep: { comments: { _limit: 5, _filter: { body: 'secret' } } } }),
    ).to.equal('article[id,comments[id] where body._eq limit 5] limit 100');
  });

  it('the shape names compared fields and operators but no value', () => {
    const filter = {
      _or: [
        { title: { _contains: 'secret' } },
        { _and: [{ id: { _in: [4711] } }, { author: { name: { _eq: 'secret' } } }] },
      ],
      comments: { _none: { body: { _starts_with: 'secret' } } },
    };
    expect(shape({ fields: 'id', filter, search: 'secret', sort: '-author.name,id', offset: 4711, limit: 7 })).to.equal(
      'article[id] where (title._contains or (id._in and author.name._eq)) and comments._none.body._starts_with search sort -author.name,id limit 7 offset',
    );
  });

  it('the shape names aggregates, groups and counts', () => {
    expect(shape({ aggregate: { count: '*', max: ['id'] }, groupBy: ['title'], limit: -1 })).to.equal(
      'article[title,count(*),max(id)]',
    );
    expect(shape({ fields: 'id', meta: '*', limit: 1 })).to.equal('article[id] limit 1 meta total_count,filter_count');
  });
});
