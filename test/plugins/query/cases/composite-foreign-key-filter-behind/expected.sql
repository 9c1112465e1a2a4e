select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."review" t1 where (exists (select 1 from "public"."role" t2 where t2."film" = t1."film_no" and t2."actor" = t1."actor_no" and exists (select 1 from "public"."film" t3 where t3."id" = t2."film" and t3."title" = $1::text))) order by t1."id" limit 100) r
-- ["second"]
