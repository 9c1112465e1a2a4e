select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."review" t1 where (t1."film_no" is not null and t1."actor_no" is not null) order by t1."id" limit 100) r
-- []
