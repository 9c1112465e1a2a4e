insert into asset values
  ('aaaaaaaa-0000-4000-8000-000000000001', 'sea.png', 1000), ('aaaaaaaa-0000-4000-8000-000000000002', 'hill.png', 9007199254740993),
  ('aaaaaaaa-0000-4000-8000-000000000003', 'unused.pdf', null);
insert into page values
  (1, 3, 'home', 'aaaaaaaa-0000-4000-8000-000000000001', null), (2, 1, 'about', null, 1),
  (3, 2, 'team', 'aaaaaaaa-0000-4000-8000-000000000002', 2), (4, null, 'draft', null, 1);
insert into language values ('de', 'German'), ('en', 'English'), ('fr', 'French');
insert into page_text values
  (1, 1, 'en', 'Welcome', 'Hello there'), (2, 1, 'de', 'Willkommen', 'Guten Tag'), (3, 2, 'en', 'About us', null),
  (4, 3, 'fr', 'Les gens', 'L''équipe'), (5, 3, 'en', 'Team', 'Us');
insert into hero values (1, 'Big', 'aaaaaaaa-0000-4000-8000-000000000001'), (2, 'Small', null);
insert into quote values
  ('bbbbbbbb-0000-4000-8000-000000000001', 'Wisdom', 'Less is more'), ('bbbbbbbb-0000-4000-8000-000000000002', null, 'More');
insert into page_block values
  (1, 1, 2, 'hero', '1'), (2, 1, 1, 'quote', 'bbbbbbbb-0000-4000-8000-000000000001'), (3, 2, 1, 'hero', '2'),
  (4, 2, 2, 'hero', '99'), (5, 3, 1, 'video', '7'), (6, 3, 2, 'quote', 'not a key'), (7, 3, 3, null, null);
insert into page_file values
  (1, 1, 'aaaaaaaa-0000-4000-8000-000000000001', 2), (2, 1, 'aaaaaaaa-0000-4000-8000-000000000002', 1),
  (3, 2, 'aaaaaaaa-0000-4000-8000-000000000002', 1), (4, 3, null, 1);
insert into section values (1, 1, 'top'), (2, 1, 'bottom'), (3, 2, 'only');
insert into line values (1, 1, 2), (2, 1, 1), (3, 2, 1);
insert into cell values (1, 1, 'left'), (2, 1, 'right'), (3, 2, 'wide'), (4, 3, 'foot');
insert into widget values
  (1, 1, 'clock', '{"color":"red","size":{"w":10},"tags":[{"x":1},{"x":2}]}'), (2, 1, 'map', '[1,2,3]'),
  (3, 3, 'chart', '{"color":"blue","size":{"w":"10"},"tags":[]}'), (4, null, 'loose', null);
insert into config values (1, 'The site');
insert into note values (1, 1, 'first'), (2, 1, 'second'), (3, 3, 'third');
