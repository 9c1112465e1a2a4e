select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", (t1."film_no"::text || ',' || t1."actor_no"::text) as "role" from "public"."review" t1 left join "public"."role" t2 on t2."film" = t1."film_no" and t2."actor" = t1."actor_no" order by t2."name", t1."id" desc limit 100) r
-- []
