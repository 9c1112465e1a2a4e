select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."name" as "name" from unnest($1::text[]) with ordinality t2(key, at) join "public"."role" t1 on t1."film" = split_part(t2.key, ',', 1)::integer and t1."actor" = split_part(t2.key, ',', 2)::integer where (t1."actor" = $2::int8) order by t2.at) r
-- [["1,2","2,1"],"2"]
