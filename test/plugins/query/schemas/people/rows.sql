insert into platform_roles values
  ('cccccccc-0000-4000-8000-000000000001', 'Editor', 2), ('cccccccc-0000-4000-8000-000000000002', 'Reader', 1);
insert into team values (1, 'Blue'), (2, 'Green');
insert into platform_users values
  ('dddddddd-0000-4000-8000-000000000001', 'Ann', 'secret', 'cccccccc-0000-4000-8000-000000000001', 1),
  ('dddddddd-0000-4000-8000-000000000002', 'Bob', null, 'cccccccc-0000-4000-8000-000000000002', 2),
  ('dddddddd-0000-4000-8000-000000000003', 'Cy', null, null, null);
insert into skill values
  (1, 'dddddddd-0000-4000-8000-000000000001', 'sea', 2), (2, 'dddddddd-0000-4000-8000-000000000001', 'hills', 5),
  (3, 'dddddddd-0000-4000-8000-000000000002', 'town', 1);
insert into article values
  (1, 'Waves', 'sea', 'live', 2, 10.50, '2022-06-15T11:00:00Z', 'dddddddd-0000-4000-8000-000000000001', 1),
  (2, 'Peaks', 'hills', 'draft', 5, 20, '2022-06-16T12:00:00Z', 'dddddddd-0000-4000-8000-000000000002', 2),
  (3, 'Trams', 'town', 'live', 1, null, '2021-01-31T12:00:00Z', null, null),
  (4, 'Tides', 'sea', null, null, 0.1, null, 'dddddddd-0000-4000-8000-000000000001', 1);
insert into remark values
  (1, 1, 'dddddddd-0000-4000-8000-000000000002', 'good', false), (2, 1, 'dddddddd-0000-4000-8000-000000000003', 'bad', true),
  (3, 2, 'dddddddd-0000-4000-8000-000000000001', 'good', false), (4, 2, null, 'bad', false), (5, 3, null, 'dull', true);
