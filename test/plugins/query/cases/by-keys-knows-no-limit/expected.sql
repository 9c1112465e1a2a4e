select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from unnest($1::int8[]) with ordinality t2(key, at) join "public"."book" t1 on t1."id" = t2.key order by t2.at) r
-- [[4,1]]
