select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."review" t1 where (t1."film_no" is not null and t1."actor_no" is not null and not ((t1."film_no", t1."actor_no") in (select split_part(k.v, ',', 1)::integer, split_part(k.v, ',', 2)::integer from unnest($1::text[]) k(v)))) order by t1."id" limit 100) r
-- [["1,2","2,1"]]
